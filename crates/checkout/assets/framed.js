// In a frame of a shop's page: the customer stays in the frame, and the shop's page is told how the payment ended. Messages go to
// the one origin that the server has checked.
(function () {
  'use strict';
  const data = document.currentScript.dataset, shop = window.parent;
  if (shop === window) return;
  const tell = (type) => shop.postMessage({
    type: 'lunas:' + type, payment_id: data.payment, reference: data.reference, status: data.status,
  }, data.origin);

  // Browsers keep few cookies in a frame, so the address says which frame it is and which language was chosen.
  const kept = (address) => {
    const url = new URL(address, location.href);
    if (!/^\/(?:.*\/)?(p|pay)\//.test(url.pathname)) return address;
    url.searchParams.set('origin', data.origin);
    if (!url.searchParams.has('lang')) url.searchParams.set('lang', document.documentElement.lang);
    return url.href;
  };
  Array.prototype.forEach.call(document.querySelectorAll('a[href]'), (link) => {
    if (link.getAttribute('href')[0] === '#') return;
    const origin = new URL(link.href).origin;
    if (origin === location.origin) link.href = kept(link.href);
    else link.target = origin === data.origin ? '_top' : '_blank';
  });
  Array.prototype.forEach.call(document.querySelectorAll('form[action]'), (form) => {
    form.setAttribute('action', kept(form.getAttribute('action')));
  });

  addEventListener('keydown', (event) => { if (event.key === 'Escape' && location.hash !== '#qr') tell('close'); }, true);
  tell('ready');
  if (/^(paid|expired|failed|cancelled)$/.test(data.status)) tell(data.status);
})();
