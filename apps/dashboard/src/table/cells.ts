import type { Cell } from './csv.js';

/** Figures as people read them: groups of digits, and a dollar sign before them. */
const FIGURE = /^-?\$?\d{1,3}(?:,?\d{3})*(?:\.\d+)?$/;
/** Elements that say nothing of the row. */
const SILENT = 'button, input, svg, [aria-hidden="true"]';

interface Cells {
  head: string[];
  rows: Cell[][];
}

/**
 * Returns the texts of a table that is shown. Amounts and times are exact, however short they are shown. A column that has
 * buttons alone is left out.
 */
export function cellsOf(table: HTMLElement): Cells {
  const names = [...table.querySelectorAll('[role="columnheader"]')].map(({ textContent }) => textContent);
  const rows = [...table.querySelectorAll('[role="row"]')]
    .map((row) => [...row.querySelectorAll('[role="cell"]')])
    .filter((cells) => cells.length > 0);
  const kept = names
    .map((_, column) => column)
    .filter((column) => !rows.every((cells) => isSilent(cells[column])));
  return {
    head: kept.map((column) => names[column]),
    rows: rows.map((cells) => kept.map((column) => valueOf(textsOf(cells[column]).join(' ')))),
  };
}

function isSilent(cell: Element): boolean {
  return cell.querySelector(SILENT) !== null && textsOf(cell).length === 0;
}

function textsOf(node: Node): string[] {
  if (node instanceof Element) {
    const exact = node.getAttribute('data-exact') ?? node.getAttribute('datetime');
    if (exact !== null) return [exact];
    if (node.matches(SILENT)) return [];
    return [...node.childNodes].flatMap(textsOf);
  }
  const text = (node.textContent ?? '').trim();
  return text === '' ? [] : [text];
}

/** Returns a figure without the signs that are there for the eye, so that a spreadsheet takes it as one. */
function valueOf(text: string): Cell {
  if (text === '–') return null;
  return FIGURE.test(text) ? text.replaceAll(/[$,]/g, '') : text;
}
