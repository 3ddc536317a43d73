/** Prints the page; a file that the browser makes of it has this name. */
export function printAs(name: string): void {
  const { title } = document;
  document.title = name;
  // Some browsers go on while their dialog is open.
  addEventListener('afterprint', () => void (document.title = title), { once: true });
  print();
}
