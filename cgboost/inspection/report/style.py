"""How a report looks: on a phone and on a screen, on light and dark paper, and printed."""

STYLE = """\
:root {
  --ink: #1d2430; --soft: #5b6472; --paper: #fdfdfc; --card: #fff; --line: #dfe3e8;
  --mark: #0a5fa5;
  --blue: #0072b2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e8eb; --soft: #9aa3b0; --paper: #14171c; --card: #1b1f26; --line: #323943;
    --mark: #7cc0f7;
    --blue: #4aa6e0;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
body {
  margin: 0 auto; padding: 2rem clamp(.9rem, 4vw, 2.5rem) 4rem; max-width: 62rem;
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  color: var(--ink); background: var(--paper);
}
h1 {
  font-size: clamp(1.5rem, 5vw, 2.2rem); line-height: 1.2; margin: 0 0 .6rem;
  overflow-wrap: anywhere;
}
h2 { font-size: 1.25rem; margin: 0 0 .8rem; }
p { max-width: 42rem; margin: .7rem 0; overflow-wrap: anywhere; }
pre, code { font: .85rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre {
  margin: .5rem 0; padding: .7rem .9rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .4rem;
}
header pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.verdict { font-size: 1.1rem; font-weight: 600; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin-top: .8rem; }
a { color: var(--mark); text-decoration: none; }
a:hover { text-decoration: underline; }
section { margin-top: 2rem; padding-top: 1.6rem; border-top: 1px solid var(--line); }
dl {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr));
  gap: .5rem 1.5rem; margin: 0 0 1rem;
}
dl div { min-width: 0; }
dt { color: var(--soft); font-size: .85rem; }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td {
  padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); white-space: nowrap;
}
td { max-width: 34rem; overflow: hidden; text-overflow: ellipsis; }
th { color: var(--soft); font-weight: 600; }
th.number, td.number { text-align: right; }
figure { margin: 0 0 1.2rem; }
.picture {
  padding: .8rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .4rem;
}
.picture svg { display: block; width: 100%; min-width: 34rem; height: auto; }
figcaption { color: var(--soft); font-size: .85rem; margin-top: .4rem; }
details { margin: .8rem 0; }
summary { cursor: pointer; color: var(--mark); }
@media print {
  body { max-width: none; }
  details { display: none; }
  section { break-inside: avoid-page; }
}
"""
