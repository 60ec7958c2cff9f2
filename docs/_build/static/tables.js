/* Wide tables hide nothing. On a phone a row stands as a card, whose cells are told the heads of their
   columns; elsewhere a table that is wider than the page gets small type and breaks long words. */
const WIDE = 4;
const LONG = 30; /* characters of code that do not fit half a phone */
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".bd-article table")) {
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
    const code = [...table.querySelectorAll("td code")].some((own) => own.textContent.length > LONG);
    if (heads.length >= WIDE || (heads.length > 1 && code)) {
      table.classList.add("cards");
      for (const row of table.querySelectorAll("tbody tr")) {
        [...row.cells].forEach((cell, column) => { cell.dataset.head = heads[column] ?? ""; });
      }
    }
    const box = table.parentElement;
    table.classList.toggle("tight", box.scrollWidth > box.clientWidth + 1);
  }
});
