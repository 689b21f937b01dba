/* SPDX-License-Identifier: MIT */
#include "dump.h"
#include "feed.h"
#include "graph-mip.h"
#include "names.h"
#include "source.h"
#include "source-query.h"

BT_PLUGIN_MODULE();

BT_PLUGIN(clrsym);
BT_PLUGIN_DESCRIPTION("Names for addresses in .NET processes, from the runtime's LTTng events");
BT_PLUGIN_AUTHOR("The clrsym authors");
BT_PLUGIN_LICENSE("MIT");

BT_PLUGIN_SINK_COMPONENT_CLASS(dump, dump_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(
        dump, "Print decoded .NET events as JSON lines, or a perf map of a process.");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(dump, "See the babeltrace2-sink.clrsym.dump(7) manual page.");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(dump, dump_initialize);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(dump, dump_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(dump, dump_graph_is_configured);

BT_PLUGIN_SINK_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD(dump, graph_mip_sink_versions);

BT_PLUGIN_SINK_COMPONENT_CLASS(feed, feed_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(feed, "Send decoded .NET events to clrsymd.");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(feed, "See the babeltrace2-sink.clrsym.feed(7) manual page.");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(feed, feed_initialize);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(feed, feed_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(feed, feed_graph_is_configured);
BT_PLUGIN_SINK_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD(feed, graph_mip_sink_versions);

BT_PLUGIN_SOURCE_COMPONENT_CLASS(ctf, source_iterator_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(
        ctf, "Read the .NET events of CTF traces, with named fields, fast.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP(ctf, "See the babeltrace2-source.clrsym.ctf(7) manual page.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(ctf, source_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(ctf, source_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(ctf, source_query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD(ctf, graph_mip_source_versions);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(
        ctf, source_iterator_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(ctf,
                                                                        source_iterator_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(
        ctf, source_iterator_seek_beginning, source_iterator_can_seek_beginning);

BT_PLUGIN_FILTER_COMPONENT_CLASS(names, names_iterator_next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_DESCRIPTION(
        names, "Add the names of .NET methods to events that have addresses.");
BT_PLUGIN_FILTER_COMPONENT_CLASS_HELP(names,
                                      "See the babeltrace2-filter.clrsym.names(7) manual page.");
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD(names, names_initialize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_FINALIZE_METHOD(names, names_finalize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD(names,
                                                                   graph_mip_filter_versions);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(
        names, names_iterator_initialize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(names,
                                                                        names_iterator_finalize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(
        names, names_iterator_seek_beginning, names_iterator_can_seek_beginning);
