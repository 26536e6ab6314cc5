// Only where the customer says how many, or types the amount: the button tells what will be paid.
(function () {
  'use strict';
  const one = (selector) => document.querySelector(selector);
  const price = one('[data-pay]'), pay = one('.pay button');
  if (price && pay) {
    const open = pay.textContent;
    const total = () => {
      const typed = /^\s*(?:rp\.?\s*)?(\d[\d.\s]*)$/i.exec(price.value);
      const amount = typed && typed[1].replace(/\D/g, '') * (price.dataset.each || 1);
      pay.textContent = amount ? price.dataset.pay.replace('#', 'Rp' + String(amount).replace(/\B(?=(\d{3})+$)/g, '.')) : open;
    };
    price.addEventListener('input', total);
    addEventListener('pageshow', () => setTimeout(total));
    total();
  }
})();
