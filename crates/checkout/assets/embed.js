// Opens links with `data-lunas` to a payment link over the shop's page. Without this script they are plain links.
(() => {
  'use strict';
  const base = new URL('.', document.currentScript.src), LOAD_MS = 1500;
  const part = (name, style) => {
    const made = document.createElement(name);
    made.style.cssText = style;
    return made;
  };
  const open = (link) => {
    const page = document.documentElement, before = page.style.overflow, told = {}, label = link.textContent.trim() || 'Lunas';
    const round = innerWidth < 560 ? '' : 'max-width:30rem;max-height:48rem;border-radius:12px;';
    const dialog = part('dialog', 'position:fixed;inset:0;width:100%;height:100%;max-width:none;max-height:none;margin:0;padding:0;border:0;overflow:hidden;background:rgba(0,0,0,.6);color-scheme:light dark');
    const box = part('div', 'position:absolute;inset:0;margin:auto;display:flex;flex-direction:column;overflow:hidden;background:Canvas;' + round);
    const close = part('button', 'align-self:flex-end;width:44px;height:44px;padding:0;border:0;background:none;color:CanvasText;font:28px/1 sans-serif;cursor:pointer');
    const frame = part('iframe', 'flex:1;width:100%;border:0');
    const url = new URL(link.href);
    let ready;
    url.searchParams.set('origin', location.origin);
    if (/^(id|en)\b/.test(page.lang)) url.searchParams.set('lang', page.lang.slice(0, 2));
    const hear = (event) => {
      if (event.origin !== base.origin || event.source !== frame.contentWindow || !event.data) return;
      const { type, payment_id, reference, status } = event.data;
      ready = true;
      if (type === 'lunas:close') dialog.close();
      if (!/^lunas:(paid|expired|failed|cancelled)$/.test(type) || told[payment_id + type]) return;
      told[payment_id + type] = true;
      link.dispatchEvent(new CustomEvent(type, { bubbles: true, detail: { payment_id, reference, status } }));
    };
    addEventListener('message', hear);
    // A frame that was refused says nothing: the customer pays on the page itself.
    frame.onload = () => setTimeout(() => { if (!ready && dialog.open) location.assign(link.href); }, LOAD_MS);
    dialog.onclose = () => {
      removeEventListener('message', hear);
      page.style.overflow = before;
      dialog.remove();
    };
    dialog.setAttribute('aria-label', label);
    close.type = 'button';
    close.textContent = '×';
    close.setAttribute('aria-label', /^en/.test(page.lang) ? 'Close' : 'Tutup');
    close.onclick = () => dialog.close();
    frame.title = label;
    frame.allow = 'clipboard-write; web-share';
    frame.src = url.href;
    box.append(close, frame);
    dialog.append(box);
    document.body.append(dialog);
    page.style.overflow = 'hidden';
    dialog.showModal();
  };
  document.addEventListener('click', (event) => {
    const link = event.target.closest && event.target.closest('a[data-lunas]');
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (!link.href.startsWith(base.href + 'p/') || !window.HTMLDialogElement) return;
    event.preventDefault();
    open(link);
  });
})();
