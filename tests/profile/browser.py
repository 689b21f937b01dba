# SPDX-License-Identifier: MIT
"""Headless Chromium, driven over its debugging pipe: a page, a mouse, keys, and pictures."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

TIMEOUT = 60
NAMES = ('chromium', 'chromium-browser', 'google-chrome')


def find():
    """Returns the path of the program, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page. Records the network requests and the errors of the page."""

    def __init__(self, program, width=1280, height=800):
        self.home = tempfile.mkdtemp(prefix='clrsym-browser-')
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def become_pipes():
            # The program expects fixed descriptor numbers, so ours must be others.
            ours = [os.dup(to_browser), os.dup(from_browser)]
            high = [os.dup2(fd, 100 + i) for i, fd in enumerate(ours)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [program, '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run',
             '--disable-dev-shm-usage', '--disable-extensions', '--hide-scrollbars',
             '--disable-background-networking', '--disable-component-update',
             f'--user-data-dir={self.home}', '--remote-debugging-pipe', 'about:blank'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, 'HOME': self.home, 'XDG_CONFIG_HOME': self.home,
                 'XDG_CACHE_HOME': self.home},
            preexec_fn=become_pipes, pass_fds=(3, 4), start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.received, self.session = 0, b'', None
        self.events, self.requests, self.complaints = [], [], []
        targets = self.call('Target.getTargets')['targetInfos']
        page = next(target for target in targets if target['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=page['targetId'],
                                 flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.call(domain + '.enable')
        self.resize(width, height)

    def close(self):
        try:
            self.session = None
            self.call('Browser.close')
        except (OSError, EOFError, TimeoutError):
            self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def receive(self, deadline):
        while b'\0' not in self.received:
            if not select.select([self.into], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError('the browser does not answer')
            data = os.read(self.into, 1 << 20)
            if not data:
                raise EOFError('the browser is gone')
            self.received += data
        message, self.received = self.received.split(b'\0', 1)
        return json.loads(message)

    def note(self, message):
        method, params = message['method'], message['params']
        self.events.append(method)
        if method == 'Network.requestWillBeSent':
            self.requests.append(params['request']['url'])
        elif method == 'Runtime.exceptionThrown':
            self.complaints.append(params['exceptionDetails'].get('exception', {}).get(
                'description', params['exceptionDetails']['text']))
        elif method == 'Runtime.consoleAPICalled':
            self.complaints.append(str(params['args']))
        elif method == 'Log.entryAdded':
            self.complaints.append(params['entry']['text'])
        elif method == 'Page.javascriptDialogOpening':
            self.complaints.append('dialog: ' + params['message'])

    def call(self, method, **params):
        self.number += 1
        request = {'id': self.number, 'method': method, 'params': params}
        if self.session:
            request['sessionId'] = self.session
        os.write(self.out, json.dumps(request).encode() + b'\0')
        deadline = time.monotonic() + TIMEOUT
        while True:
            message = self.receive(deadline)
            if message.get('id') == self.number:
                if 'error' in message:
                    raise RuntimeError(f'{method}: {message["error"]}')
                return message['result']
            if 'method' in message:
                self.note(message)

    def resize(self, width, height, scale=1):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=scale, mobile=False)

    def prefer(self, scheme):
        self.call('Emulation.setEmulatedMedia',
                  features=[{'name': 'prefers-color-scheme', 'value': scheme}])

    def scripts(self, is_on):
        self.call('Emulation.setScriptExecutionDisabled', value=not is_on)

    def open(self, path):
        """Loads a file; forgets earlier requests and errors."""
        self.events, self.requests, self.complaints = [], [], []
        self.call('Page.navigate', url='file://' + str(path))
        deadline = time.monotonic() + TIMEOUT
        while 'Page.loadEventFired' not in self.events:
            message = self.receive(deadline)
            if 'method' in message:
                self.note(message)
        self.settle()

    def settle(self):
        """Waits until the page has drawn."""
        self.run('new Promise((done) => requestAnimationFrame('
                 '() => requestAnimationFrame(() => done(1))))')

    def run(self, script):
        """Returns the value of an expression; of a promise, its result."""
        result = self.call('Runtime.evaluate', expression=script, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(f'{script}: {result["exceptionDetails"]}')
        return result['result'].get('value')

    def move(self, x, y):
        self.call('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)
        self.settle()

    def click(self, x, y):
        self.move(x, y)
        for kind in ('mousePressed', 'mouseReleased'):
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left',
                      clickCount=1)
        self.settle()

    def key(self, key, text=None):
        codes = {'Enter': 13, 'Escape': 27, 'Tab': 9, 'ArrowLeft': 37, 'ArrowUp': 38,
                 'ArrowRight': 39, 'ArrowDown': 40, 'Home': 36, 'Backspace': 8}
        extra = {'windowsVirtualKeyCode': codes[key]} if key in codes else {'text': text or key}
        if key == 'Enter':
            extra['text'] = '\r'
        self.call('Input.dispatchKeyEvent', type='keyDown', key=key, **extra)
        self.call('Input.dispatchKeyEvent', type='keyUp', key=key)
        self.settle()

    def type(self, text):
        self.call('Input.insertText', text=text)
        self.settle()

    def picture(self, path):
        data = self.call('Page.captureScreenshot', format='png')['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(data))
