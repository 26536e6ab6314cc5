// The counter works without this script. With it, the page has number keys, stays while the connection is away, and says by colour
// and sound that a sale is paid.
(function () {
  'use strict';
  const RETRY_MS = 1500, RETRY_MOST_MS = 8000, ANSWER_MS = 35000, POLL_MS = 3000, SILENCE_MS = 40000, LISTEN_AGAIN_MS = 20000;
  const LIST_MS = 15000, DIGITS_MOST = 12, MUTE = 'lunas:mute';
  const one = (selector) => document.querySelector(selector), counter = () => one('#counter');
  if (!counter()) return;
  const parsed = (html) => new DOMParser().parseFromString(html, 'text/html');

  // The connection. The page says since when it is away, until an answer has come.
  let since;
  const lost = () => {
    since = since || new Date();
    const time = since.toLocaleTimeString(document.documentElement.lang, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
    const net = one('#net'), text = counter().dataset.lost.replace('#', time);
    if (net.textContent !== text) net.textContent = text;
    net.hidden = false;
  };
  const found = () => {
    since = null;
    one('#net').hidden = true;
  };
  const ask = (url, options) => {
    const stop = new AbortController(), late = setTimeout(() => stop.abort(), ANSWER_MS);
    const asked = fetch(url, Object.assign({ credentials: 'same-origin', cache: 'no-store', signal: stop.signal }, options));
    return asked.then((answer) => answer.text().then((text) => ({ status: answer.status, url: answer.url, text: text })))
      .finally(() => clearTimeout(late));
  };

  // The sound. Browsers allow it only to a page that somebody has touched, so it is prepared by the first touch.
  let audio;
  const wake = () => {
    const Audio = window.AudioContext || window.webkitAudioContext;
    if (!audio && Audio) audio = new Audio();
    if (audio && audio.state === 'suspended') audio.resume();
  };
  const isMute = () => { try { return localStorage.getItem(MUTE) === '1'; } catch (blocked) { return false; } };
  const ring = () => {
    if (!audio || isMute()) return;
    [[880, 0], [1174.7, 0.14], [1760, 0.28]].forEach(([pitch, after]) => {
      const tone = audio.createOscillator(), loud = audio.createGain(), at = audio.currentTime + after;
      tone.frequency.value = pitch;
      loud.gain.setValueAtTime(0.0001, at);
      loud.gain.exponentialRampToValueAtTime(0.4, at + 0.02);
      loud.gain.exponentialRampToValueAtTime(0.0001, at + 0.3);
      tone.connect(loud).connect(audio.destination);
      tone.start(at);
      tone.stop(at + 0.32);
    });
  };
  const showMute = () => {
    const button = one('#mute'), label = button.querySelector('[data-off]');
    if (!label.dataset.on) label.dataset.on = label.textContent;
    button.setAttribute('aria-pressed', isMute());
    label.textContent = isMute() ? label.dataset.off : label.dataset.on;
  };

  // The screen stays on while a customer pays. A browser gives this up by itself when the page is hidden.
  let lock;
  const stayAwake = () => {
    const sale = one('#sale'), waits = sale && /^(pending|processing)$/.test(sale.dataset.status);
    if (waits && !lock && navigator.wakeLock && !document.hidden) {
      lock = navigator.wakeLock.request('screen').then((held) => {
        held.addEventListener('release', () => { lock = null; });
        return held;
      }, () => { lock = null; });
    }
    if (!waits && lock) {
      lock.then((held) => held && held.release());
      lock = null;
    }
  };

  // Watching one sale.
  let source, polling, silence, again;
  const stopWatching = () => {
    if (source) source.close();
    source = null;
    polling = clearInterval(polling);
    clearTimeout(silence);
    clearTimeout(again);
  };
  const turn = (status) => {
    const sale = one('#sale');
    if (sale && status && status !== sale.dataset.status) go(sale.dataset.url);
  };
  const check = () => {
    const sale = one('#sale');
    if (!sale) return;
    const url = sale.dataset.url;
    ask(url + '/status').then((answer) => {
      const now = one('#sale');
      if (!now || now.dataset.url !== url) return;
      // The session has ended: its page asks to sign in.
      if (answer.status === 401 || answer.status === 403 || answer.status === 404) return location.reload();
      if (answer.status !== 200) return lost();
      found();
      turn(JSON.parse(answer.text).status);
    }).catch(lost);
  };
  const poll = () => {
    check();
    if (!polling) polling = setInterval(check, POLL_MS);
  };
  const listen = () => {
    const sale = one('#sale');
    if (!sale) return;
    if (!window.EventSource) return poll();
    const mine = source = new EventSource(sale.dataset.url + '/events');
    silence = setTimeout(poll, POLL_MS);
    mine.addEventListener('status', (event) => {
      if (mine !== source) return;
      clearTimeout(silence);
      silence = setTimeout(poll, SILENCE_MS);
      polling = clearInterval(polling);
      found();
      turn(event.data.trim());
    });
    mine.onerror = () => {
      if (mine !== source) return;
      poll();
      if (mine.readyState !== 2) return;
      source = null;
      again = setTimeout(listen, LISTEN_AGAIN_MS);
    };
  };

  // Going to another part of the counter: the page stays and takes over what the server answers. It asks until an answer has come;
  // a form that is sent again carries the same id, so it makes one sale. A newer step makes an older one void.
  let step = 0;
  const go = (url, form) => {
    const mine = step += 1, body = form && new URLSearchParams(new FormData(form));
    let wait = RETRY_MS;
    const attempt = () => {
      if (mine !== step) return;
      ask(url, form ? { method: 'POST', body: body } : {}).then((answer) => {
        if (mine !== step) return;
        const page = parsed(answer.text), next = page.getElementById('counter');
        if (next) return take(page, next, answer.url);
        if (answer.status >= 500 || answer.status === 429) throw new Error(answer.status);
        location.assign(url);
      }).catch(() => {
        lost();
        setTimeout(attempt, wait);
        wait = Math.min(2 * wait, RETRY_MOST_MS);
      });
    };
    attempt();
  };
  const take = (page, next, url) => {
    const before = one('#sale'), was = before && before.dataset.url + before.dataset.status;
    stopWatching();
    found();
    const flash = page.querySelector('main > .flash'), old = one('main > .flash');
    if (old) old.remove();
    const fresh = document.importNode(next, true);
    counter().replaceWith(fresh);
    if (flash) fresh.before(document.importNode(flash, true));
    document.title = page.title;
    if (url !== location.href) history.pushState(null, '', url);
    const sale = one('#sale');
    if (sale && before && sale.dataset.url === before.dataset.url && sale.dataset.status === 'paid' && !was.endsWith('paid')) {
      sale.dataset.new = '';
      ring();
    }
    scrollTo(0, 0);
    begin();
  };

  // Amounts are shown with their thousands apart, as they are written on receipts.
  const type = (field, text) => {
    const digits = text.replace(/\D/g, '').replace(/^0+/, '').slice(0, DIGITS_MOST);
    field.value = digits.replace(/\B(?=(\d{3})+$)/g, '.');
  };
  const press = (key) => {
    const field = one('#amount');
    type(field, key === 'back' ? field.value.slice(0, -1) : field.value + key);
  };
  const refreshList = () => {
    if (document.hidden || !one('#sales .pending, #sales .processing')) return;
    ask(location.href, { headers: { 'X-Lunas-Refresh': '1' } }).then((answer) => {
      const next = parsed(answer.text).getElementById('sales'), old = one('#sales');
      if (answer.status === 200 && next && !old.contains(document.activeElement)) old.replaceWith(document.importNode(next, true));
    }).catch(() => {});
  };
  const begin = () => {
    showMute();
    stayAwake();
    const field = one('#amount');
    if (field) {
      // The keys of the page take the place of the phone's own keyboard; a real keyboard works as ever.
      field.inputMode = 'none';
      field.focus({ preventScroll: true });
    }
    const sale = one('#sale');
    if (sale) listen();
  };

  document.addEventListener('click', (event) => {
    wake();
    const key = event.target.closest('[data-key]'), link = event.target.closest('#counter a[href]');
    if (key) return press(key.dataset.key);
    if (event.target.closest('#mute')) {
      try { localStorage.setItem(MUTE, isMute() ? '0' : '1'); } catch (blocked) { return; }
      showMute();
      if (!isMute()) ring();
    }
    if (!link || link.target || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(link.href);
  });
  // Before the dashboard's own script, which would count the form as sent.
  document.addEventListener('submit', (event) => {
    const form = event.target, button = form.querySelector('button.main');
    if (!form.closest('#counter')) return;
    event.preventDefault();
    wake();
    if (form.dataset.sent) return;
    form.dataset.sent = 'yes';
    if (button) {
      button.setAttribute('aria-busy', 'true');
      button.textContent = counter().dataset.sending;
    }
    go(form.action, form);
  }, true);
  document.addEventListener('input', (event) => { if (event.target.id === 'amount') type(event.target, event.target.value); });
  document.addEventListener('visibilitychange', () => { if (!document.hidden) { stayAwake(); check(); refreshList(); } });
  addEventListener('popstate', () => go(location.href));
  addEventListener('offline', lost);
  addEventListener('online', () => { if (one('#sale')) check(); else found(); });
  setInterval(refreshList, LIST_MS);
  begin();
})();
