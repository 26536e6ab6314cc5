// Sends the request that the form of an operation's page describes, to the origin of the page. The key is read when the request is
// sent; it is not stored, and no address contains it. Without this script the form is not shown.
(() => {
  'use strict';
  const KEY = /^sk_test_[0-9A-Za-z]+$/, TIMEOUT_MS = 30000, SHOWN_CHARACTERS = 200000, RANDOM_BYTES = 12;
  const form = document.querySelector('form[data-try]');
  if (!form) return;
  const key = form.querySelector('[data-key]'), body = form.querySelector('[data-body]');
  const button = form.querySelector('button'), problem = document.querySelector('#try-problem');
  const status = document.querySelector('#try-answer [role=status]'), answer = document.querySelector('#try-answer > div');
  const fields = [...form.querySelectorAll('[data-in]')];

  const refuse = (field, text) => {
    problem.textContent = text;
    if (!field) return;
    field.setAttribute('aria-invalid', 'true');
    field.focus();
  };
  const unique = () => 'try-' + [...crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0')).join('');

  // The first field that cannot be sent, and why.
  const wrong = () => {
    if (key && !KEY.test(key.value.trim())) {
      return [key, 'Only a key of the sandbox can be used here. It begins with sk_test_.'];
    }
    const empty = fields.find((field) => field.required && !field.value.trim());
    if (empty) return [empty, empty.dataset.name + ' is required.'];
    const odd = fields.find((field) => field.dataset.in === 'header' && !/^[ -~]*$/.test(field.value));
    return odd ? [odd, odd.dataset.name + ' may have only plain characters.'] : null;
  };

  const headers = () => {
    const all = {};
    if (key) all.Authorization = 'Bearer ' + key.value.trim();
    if (body) all['Content-Type'] = 'application/json';
    fields.filter((field) => field.dataset.in === 'header').forEach((field) => {
      const name = field.dataset.name, value = field.value.trim();
      if (value) all[name] = value;
      else if (name === 'Idempotency-Key') all[name] = unique();
    });
    return all;
  };
  const address = () => {
    const query = new URLSearchParams();
    let path = form.dataset.path;
    fields.forEach((field) => {
      const name = field.dataset.name, value = field.value.trim();
      if (field.dataset.in === 'path') path = path.split('{' + name + '}').join(encodeURIComponent(value));
      if (field.dataset.in === 'query' && value) query.append(name, value);
    });
    return form.dataset.root + path + (String(query) ? '?' + query : '');
  };
  const send = async (url, options) => {
    const stop = new AbortController(), timer = setTimeout(() => stop.abort(), TIMEOUT_MS), started = performance.now();
    try {
      const response = await fetch(url, {
        credentials: 'omit', cache: 'no-store', redirect: 'error', signal: stop.signal, ...options,
      });
      const text = await response.text();
      return { response, text, time: Math.round(performance.now() - started) };
    } finally {
      clearTimeout(timer);
    }
  };

  // The example names a project of nobody. The balance tells whose key it is.
  const ownProject = async () => {
    const example = form.dataset.project;
    if (!body || !key || !example || !body.value.includes(example)) return;
    const { response, text } = await send(form.dataset.root + '/v1/balance', { headers: { Authorization: headers().Authorization } });
    if (response.ok) body.value = body.value.split(example).join(JSON.parse(text).project_id);
  };

  const pretty = (text) => {
    let shown = text;
    try {
      shown = JSON.stringify(JSON.parse(text), null, 2);
    } catch (other) { /* It is not JSON, so it is shown as it is. */ }
    return shown.length > SHOWN_CHARACTERS ? shown.slice(0, SHOWN_CHARACTERS) + '\n…' : shown;
  };

  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    problem.textContent = status.textContent = '';
    answer.hidden = true;
    form.querySelectorAll('[aria-invalid]').forEach((field) => field.removeAttribute('aria-invalid'));
    const found = wrong();
    if (found) {
      refuse(...found);
      return;
    }
    button.disabled = true;
    try {
      await ownProject();
      const { response, text, time } = await send(address(), {
        method: form.dataset.method, headers: headers(), body: body ? body.value : undefined,
      });
      status.className = response.ok ? 'good' : 'bad';
      status.textContent = response.status + ' ' + response.statusText + ' after ' + time + ' ms';
      answer.querySelector('code').textContent = pretty(text);
      answer.hidden = false;
    } catch (fault) {
      refuse(null, fault.name === 'AbortError' ? 'There was no answer in time.' : 'The request could not be sent.');
    } finally {
      button.disabled = false;
    }
  });
  // A page that the browser keeps for the way back must not keep the key.
  window.addEventListener('pagehide', () => { if (key) key.value = ''; });
})();
