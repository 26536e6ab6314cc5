// The dashboard works without this script. With it, open pages update themselves, and long texts have a button that copies them.
(function () {
  'use strict';
  const POLL_MS = 5000, REFRESH_AT_MOST_MS = 1000, REFRESH_AT_LEAST_MS = 60000, LISTEN_AGAIN_MS = 60000;
  const PREVIEW_WAIT_MS = 300, BUSY_MS = 15000, COPIED_MS = 2000, RELOAD_AGAIN_MS = 60000;
  const page = document.documentElement, one = (id) => document.getElementById(id);
  page.classList.add('js');
  const first = document.querySelector('[autofocus]');
  if (first) first.focus();
  const say = (text) => {
    const said = one('said');
    said.textContent = '';
    setTimeout(() => { said.textContent = text; }, 50);
  };

  // Copying. `copyText` stands before this script.
  const copy = (button) => {
    const source = one(button.dataset.copyFrom), text = source ? source.textContent : button.dataset.copy;
    const label = button.firstElementChild || button, before = label.dataset.before || label.textContent;
    copyText(text).then(() => {
      label.dataset.before = before;
      label.textContent = button.dataset.copied;
      say(button.dataset.copied);
      setTimeout(() => { label.textContent = before; }, COPIED_MS);
      button.focus();
    }, () => { if (source) getSelection().selectAllChildren(source); });
  };

  // Sharing, where the system has a sheet for it.
  document.querySelectorAll('[data-share]').forEach((button) => { button.hidden = !navigator.share; });
  const share = (button) => navigator.share({ title: button.dataset.shareTitle, text: button.dataset.shareText, url: button.dataset.share }).catch(() => {});

  const popovers = () => document.querySelectorAll('.menu[open], .switch[open], .pop[open]');
  document.addEventListener('click', (event) => {
    const target = event.target;
    popovers().forEach((part) => { if (!part.contains(target)) part.open = false; });
    const button = target.closest('[data-copy], [data-copy-from]');
    if (button) return copy(button);
    const shared = target.closest('[data-share]');
    if (shared) return share(shared);
    if (target.closest('[data-print]')) return print();
    // A click on a row opens its link, unless it was on another control or selected text.
    const row = target.closest('tbody tr'), link = row && row.querySelector('a.row');
    if (!link || target.closest('a, button, input, select, label, summary') || !getSelection().isCollapsed) return;
    if (event.ctrlKey || event.metaKey) open(link.href, '_blank', 'noopener');
    else link.click();
  });
  document.addEventListener('keydown', (event) => {
    // A slash goes to the box that searches everything, unless one is typing.
    const boxes = Array.from(document.querySelectorAll('[data-find]')), box = boxes.find((one) => one.checkVisibility());
    if (event.key === '/' && box && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest('input, select, textarea')) {
      event.preventDefault();
      return box.focus();
    }
    if (event.key !== 'Escape') return;
    popovers().forEach((part) => {
      if (part.contains(document.activeElement)) part.firstElementChild.focus();
      part.open = false;
    });
  });

  // A part that scrolls sideways shows the whole of what has the focus; browsers are content with half of it.
  document.addEventListener('focusin', (event) => {
    if (event.target.closest('.tabs, .chips')) event.target.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });

  // Not `form.method`: in a form with a field named `method` that would be the field.
  const asks = (form) => (form.getAttribute('method') || 'get').toLowerCase() === 'get';
  // A form is sent once, however often its button is pressed. The server checks that too, so a form that hangs can be sent again.
  const idle = (form) => {
    delete form.dataset.sent;
    form.querySelectorAll('[aria-busy]').forEach((button) => button.removeAttribute('aria-busy'));
  };
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (event.defaultPrevented || asks(form)) return;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = 'yes';
    const button = event.submitter || form.querySelector('button');
    if (button) button.setAttribute('aria-busy', 'true');
    setTimeout(idle, BUSY_MS, form);
  });
  addEventListener('pageshow', (event) => { if (event.persisted) document.querySelectorAll('form').forEach(idle); });
  // Empty filters stay out of the address.
  document.addEventListener('formdata', (event) => {
    if (!asks(event.target)) return;
    Array.from(event.formData).forEach(([name, value]) => { if (value === '') event.formData.delete(name); });
  });
  document.addEventListener('change', (event) => {
    const changed = event.target;
    if (changed.matches('select[data-submit]')) changed.form.requestSubmit();
    if (changed.matches('[data-pick-all]')) changed.form.querySelectorAll('td.pick input').forEach((box) => { box.checked = changed.checked; });
  });

  const ours = (address) => new URL(address, location.href).origin === location.origin;
  const parsed = (html) => new DOMParser().parseFromString(html, 'text/html');
  const preview = (form) => {
    let waiting, asked;
    const ask = () => {
      const fields = new FormData(form);
      fields.delete('form_token');
      if (asked) asked.abort();
      asked = new AbortController();
      fetch(form.dataset.previewUrl + '?' + new URLSearchParams(fields), { credentials: 'same-origin', redirect: 'error', signal: asked.signal })
        .then((answer) => (answer.ok ? answer.text() : Promise.reject()))
        .then((html) => parsed(html).querySelectorAll('[id]').forEach((fresh) => one(fresh.id).replaceChildren(...fresh.childNodes))).catch(() => {});
    };
    form.addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = setTimeout(ask, PREVIEW_WAIT_MS);
    });
  };
  document.querySelectorAll('form[data-preview-url]').forEach((form) => { if (ours(form.dataset.previewUrl)) preview(form); });

  // A wide page has room for what a narrow one folds.
  const wide = matchMedia('(min-width: 75em)');
  const unfold = () => document.querySelectorAll('.phone-fold').forEach((part) => { part.open = wide.matches; });
  wide.addEventListener('change', unfold);
  unfold();

  // Live regions. The HTML that the server sent is remembered, because the user's own clicks change the page as well.
  const live = document.body.dataset.liveUrl;
  if (!live || !ours(live)) return;
  const written = {}, regions = (root) => root.querySelectorAll('[data-live][id]');
  regions(document).forEach((region) => { written[region.id] = region.outerHTML; });
  // Finds the element that takes a part's place in a replaced region: the one with the same id, or else at the same position.
  const same = (root, selector, part, parts) => (part.id ? root.querySelector('#' + CSS.escape(part.id)) : root.querySelectorAll(selector)[parts.indexOf(part)]);
  const replace = (old, fresh) => {
    const focused = document.activeElement, held = old.contains(focused), chosen = getSelection();
    if (held && focused.matches('input, select, textarea') || old.querySelector('[aria-busy]')) return;
    if (!chosen.isCollapsed && old.contains(chosen.anchorNode)) return;
    written[old.id] = fresh.outerHTML;
    const next = document.importNode(fresh, true);
    const keep = (selector, act) => {
      const parts = Array.from(old.querySelectorAll(selector));
      parts.forEach((part) => { const twin = same(next, selector, part, parts); if (twin) act(part, twin); });
    };
    keep('.pick input', (part, twin) => { twin.checked = part.checked; });
    keep('details', (part, twin) => { twin.open = part.open; });
    let focus;
    keep('a, button, summary, [tabindex]', (part, twin) => { if (part === focused) focus = twin; });
    const scrolled = [];
    keep('pre, .scroll', (part, twin) => scrolled.push([twin, part.scrollLeft, part.scrollTop]));
    old.replaceWith(next);
    scrolled.forEach(([part, left, top]) => part.scrollTo(left, top));
    if (focus) focus.focus({ preventScroll: true });
    if (next.dataset.say && next.dataset.say !== old.dataset.say) say(next.dataset.say);
  };

  let source, polling, due, busy, stopped, last = 0;
  const stop = () => {
    if (source) source.close();
    source = null;
    polling = clearInterval(polling);
  };
  // The session has ended: reloading shows the form for signing in. Not twice in a minute, in case the same page comes back.
  const leave = () => {
    stopped = true;
    stop();
    try {
      const key = 'lunas:left', before = +sessionStorage.getItem(key);
      if (Date.now() - before < RELOAD_AGAIN_MS) return;
      sessionStorage.setItem(key, Date.now());
    } catch (blocked) { return; }
    location.reload();
  };
  const refresh = () => {
    if (stopped || document.hidden || due) return;
    due = setTimeout(() => {
      if (busy) return (due = null), refresh();
      due = null;
      busy = true;
      last = Date.now();
      fetch(location.href, { headers: { 'X-Lunas-Refresh': '1' }, credentials: 'same-origin', cache: 'no-store', redirect: 'manual' })
        .then((answer) => {
          if (answer.status === 401 || answer.type === 'opaqueredirect') return leave();
          return answer.ok && answer.text().then((html) => {
            regions(parsed(html)).forEach((fresh) => {
              const old = one(fresh.id);
              if (old && fresh.outerHTML !== written[fresh.id]) replace(old, fresh);
            });
          });
        }).catch(() => {}).then(() => { busy = false; });
    }, Math.max(0, last + REFRESH_AT_MOST_MS - Date.now()));
  };
  const poll = () => {
    if (!polling && !stopped) polling = setInterval(refresh, POLL_MS);
    refresh();
  };
  const listen = () => {
    if (stopped || document.hidden || source) return;
    const mine = source = new EventSource(live);
    // Some proxies buffer event streams: a page that receives nothing polls.
    const silence = setTimeout(poll, POLL_MS);
    const heard = () => {
      clearTimeout(silence);
      polling = clearInterval(polling);
    };
    mine.onopen = heard;
    mine.addEventListener('news', () => { heard(); refresh(); });
    mine.onerror = () => {
      if (mine !== source) return;
      clearTimeout(silence);
      poll();
      if (mine.readyState !== 2) return;
      source = null;
      // The delay is random, so that many open pages do not reconnect to a restarted server at the same moment.
      setTimeout(listen, LISTEN_AGAIN_MS * (1 + Math.random()));
    };
  };
  // A hidden page closes its connection, because browsers allow only a few of them.
  const seen = () => {
    if (document.hidden) return stop();
    listen();
    refresh();
  };
  document.addEventListener('visibilitychange', seen);
  addEventListener('pagehide', stop);
  addEventListener('online', refresh);
  addEventListener('pageshow', (event) => { if (event.persisted) seen(); });
  setInterval(refresh, REFRESH_AT_LEAST_MS);
  listen();
})();
