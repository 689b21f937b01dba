# SPDX-License-Identifier: MIT
"""A store for profiles with answers by the test: receives the uploads of `clrsym record --push`."""

import base64
import contextlib
import email
import gzip
import http.server
import io
import json
import threading
import time
import urllib.parse

from tests.profile import readers


class Received:
    """A profile: the labels of its series, and its bytes; decoded if it is an OTLP profile."""

    def __init__(self, path, headers, body):
        if headers['Content-Type'] == 'application/json':
            series, = json.loads(body)['series']
            sample, = series['samples']
            self.form = 'parca'
            self.labels = {row['name']: row['value'] for row in series['labels']['labels']}
            self.profile = base64.b64decode(sample['rawProfile'], validate=True)
        elif headers['Content-Type'] == 'application/x-protobuf':
            assert headers['Content-Encoding'] == 'gzip' and path.endswith('/v1development/profiles'), path
            self.form, self.labels, self.profile = 'otlp', {}, body
            self.otlp = readers.Otlp(gzip.decompress(body))
        else:
            parts = email.message_from_bytes(
                b'Content-Type: ' + headers['Content-Type'].encode() + b'\r\n\r\n' + body)
            part, = parts.get_payload()
            self.form = part.get_param('name', header='Content-Disposition')
            self.profile = part.get_payload(decode=True)
            query = dict(urllib.parse.parse_qsl(path.partition('?')[2], strict_parsing=True))
            name, _, labels = query['name'].partition('{')
            self.labels = dict(label.split('=') for label in labels.removesuffix('}').split(','))
            self.labels['name'] = name
            self.span = int(query['from']), int(query['until'])
        gzip.decompress(self.profile)

    def file(self):
        return io.BytesIO(self.profile)


class Store:
    """ANSWER: a function of the request's number. Its result is a status; or a status, headers and text; or 'hang'
    or 'endless'."""

    def __init__(self, answer=lambda n: 200):
        self.answer = answer
        self.received = []
        self.statuses = []
        self.times = []
        self.tokens = set()
        self.port = 0

    def handler(self):
        store = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers['Content-Length']))
                store.received.append(Received(self.path, self.headers, body))
                store.tokens.add(self.headers.get('Authorization'))
                status = store.answer(len(store.statuses))
                store.statuses.append(status)
                store.times.append(time.monotonic())
                if status == 'hang':
                    time.sleep(60)
                    return
                code, headers, text = (200, {}, '') if status == 'endless' else \
                    status if isinstance(status, tuple) else (status, {}, '')
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(text if isinstance(text, bytes) else text.encode())
                    while status == 'endless':
                        self.wfile.write(b'x' * 65536)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        return Handler

    @contextlib.contextmanager
    def running(self, port=0):
        server = http.server.ThreadingHTTPServer(('127.0.0.1', port), self.handler())
        server.daemon_threads = True
        server.block_on_close = False
        self.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f'http://127.0.0.1:{self.port}'
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
