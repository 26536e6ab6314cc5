// The checkout works without this script. With it, pages update by themselves and numbers are copied at a touch.
// It must run in web views as old as Chrome 70.
(function () {
  'use strict';
  const POLL_MS = 5000, SILENCE_MS = 40000, LISTEN_AGAIN_MS = 60000, RELOAD_WAIT_MS = 10000, BUSY_MS = 15000;
  const MOST_ERRORS = 3, MOST_RELOADS = 3, WIB_MS = 7 * 3600000;
  const one = (selector) => document.querySelector(selector);
  const each = (selector, act) => Array.prototype.forEach.call(document.querySelectorAll(selector), act);
  const watch = one('#watch');
  const say = (text) => { watch.textContent = text; };
  // How far the server's clock is ahead of the phone's, as of the moment when the answer began to arrive.
  const arrived = (window.performance && performance.timing && performance.timing.responseStart) || Date.now();
  const ahead = watch ? watch.dataset.now - arrived : 0;
  const two = (number) => (number < 10 ? '0' : '') + number;
  const looked = one('#looked'), sentence = looked && looked.innerHTML;

  each('[data-script]', (part) => { part.hidden = false; });
  const first = one('[autofocus]');
  if (first) first.focus();

  // Watching the status. A page that is unchanged after a reload waits longer before the next one, then stops, so that it cannot
  // reload for ever.
  let polling, leaving = false;
  const turn = (status) => {
    if (!status || status === watch.dataset.status || leaving) return;
    const key = 'lunas:' + location.pathname, change = watch.dataset.status + '>' + status;
    let wait = 1000;
    try {
      const last = (sessionStorage.getItem(key) || '').split(' ');
      const times = last[0] === change ? +last[1] : 0;
      if (times > MOST_RELOADS) return;
      sessionStorage.setItem(key, change + ' ' + (times + 1));
      wait = times * RELOAD_WAIT_MS;
    } catch (blocked) { /* Without session storage every reload waits a second, which limits how often there is one. */ }
    leaving = true;
    setTimeout(() => location.reload(), wait);
  };
  // The status was looked up: says when.
  const seen = (status) => {
    turn(status);
    if (!looked || !status) return;
    const now = Date.now() + ahead, time = new Date(now + WIB_MS).toISOString().slice(11, 19);
    looked.innerHTML = sentence;
    const clock = looked.querySelector('time');
    clock.dateTime = new Date(now).toISOString();
    clock.textContent = document.documentElement.lang === 'id' ? time.replace(/:/g, '.') : time;
  };
  const ask = () => fetch(watch.dataset.poll, { cache: 'no-store', credentials: 'same-origin' })
    .then((answer) => (answer.ok ? answer.json() : Promise.reject()))
    .then((body) => seen(body.status));
  const check = () => { ask().catch(() => {}); };
  each('[data-check]', (link) => {
    link.onclick = (event) => {
      event.preventDefault();
      ask().catch(() => { looked.textContent = looked.dataset.failed; }).then(() => say(looked.textContent));
    };
  });
  const poll = () => {
    check();
    if (!polling) polling = setInterval(() => { if (!document.hidden) check(); }, POLL_MS);
  };
  const listen = () => {
    if (!window.EventSource || !watch.dataset.events) return poll();
    const source = new EventSource(watch.dataset.events);
    let errors = 0;
    // Some proxies hold events back, and connections die without an error: the page polls while it gets no events.
    let silence = setTimeout(poll, POLL_MS);
    source.addEventListener('status', (event) => {
      errors = 0;
      clearTimeout(silence);
      silence = setTimeout(poll, SILENCE_MS);
      polling = clearInterval(polling);
      seen(event.data.trim());
    });
    source.onerror = () => {
      errors += 1;
      if (source.readyState !== 2 && errors < MOST_ERRORS) return;
      source.close();
      clearTimeout(silence);
      poll();
      // At a random time, so that thousands of pages do not all reconnect at once after a restart of the server.
      setTimeout(listen, LISTEN_AGAIN_MS * (1 + Math.random()));
    };
  };
  if (watch) {
    listen();
    addEventListener('online', check);
    document.addEventListener('visibilitychange', () => { if (!document.hidden) check(); });
    addEventListener('pageshow', (event) => { if (event.persisted) check(); });
  }

  // The countdown. It goes by the server's clock.
  const left = one('#left');
  if (left) {
    let before = Infinity;
    const tick = () => {
      const seconds = Math.max(0, Math.ceil((left.dataset.expires - Date.now() - ahead) / 1000));
      const days = Math.floor(seconds / 86400), hours = Math.floor(seconds / 3600) % 24;
      left.textContent = (days ? left.dataset.days.replace('#', days) + ' ' : '') +
        (days || hours ? two(hours) + ':' : '') + two(Math.floor(seconds / 60) % 60) + ':' + two(seconds % 60);
      if (before !== Infinity) {
        if (before > 300 && seconds <= 300 && seconds > 60) say(left.dataset.five);
        if (before > 60 && seconds <= 60 && seconds) say(left.dataset.one);
      }
      before = seconds;
      if (seconds) return;
      clearInterval(ticking);
      check();
      setTimeout(check, 1500);
    };
    const ticking = setInterval(tick, 1000);
    tick();
  }

  // Copying. `copyText` stands before this script.
  each('[data-copy]', (button) => {
    const label = button.firstChild, text = label.data;
    button.onclick = () => {
      copyText(button.dataset.copy).then(() => {
        label.data = button.dataset.copied;
        say('');
        setTimeout(() => say(label.data), 50);
        setTimeout(() => { label.data = text; }, 2000);
        button.focus();
      }, () => getSelection().selectAllChildren(button.parentNode.querySelector('b')));
    };
  });

  // Sharing the card with the QR code. Whether files can be shared is asked with an empty one.
  const share = one('[data-share]');
  if (share && navigator.canShare) {
    const saved = one('a[download]');
    const files = (blob) => ({ files: [new File([blob], saved.download, { type: 'image/png' })] });
    share.hidden = !navigator.canShare(files(''));
    share.onclick = () => {
      fetch(saved.href, { credentials: 'same-origin' }).then((answer) => answer.blob())
        .then((blob) => navigator.share(files(blob))).catch(() => {});
    };
  }
  addEventListener('keydown', (event) => { if (event.key === 'Escape' && location.hash === '#qr') location.hash = 'enlarge'; });
  each('[data-print]', (button) => { button.onclick = () => print(); });

  // A form is sent once per press. The server creates one payment per form in any case, so a form that hangs may be sent again.
  each('form', (form) => {
    const button = form.querySelector('[data-busy]');
    let sent = false, text;
    const again = () => {
      sent = false;
      if (!text) return;
      button.removeAttribute('aria-busy');
      button.textContent = text;
    };
    form.onsubmit = (event) => {
      if (sent) return event.preventDefault();
      sent = true;
      setTimeout(again, BUSY_MS);
      if (!button) return;
      text = button.textContent;
      button.setAttribute('aria-busy', 'true');
      button.textContent = button.dataset.busy;
    };
    addEventListener('pageshow', again);
  });

  // With nothing to choose and nothing to fill in, the form sends itself: once a person sees the page, and never for a program
  // that scans links, for a page that is loaded ahead, or after going back.
  const straight = one('[data-straight]');
  const went = window.performance && performance.navigation && performance.navigation.type === 2;
  if (straight && !navigator.webdriver && !went) {
    let gone = false;
    const go = () => {
      if (gone || document.hidden || document.prerendering) return;
      gone = true;
      straight.querySelector('.main').click();
    };
    document.addEventListener('visibilitychange', go);
    document.addEventListener('prerenderingchange', go);
    go();
  }
})();
