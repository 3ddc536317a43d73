import { logDestination } from './log-writer.js';

/** Logs to standard output after its reader has gone, and says on standard error how many lines were dropped. */
const lines = logDestination();
lines.write('first\n');
const timer = setInterval(() => {
  lines.write('next\n');
  if (lines.dropped < 10) return;
  clearInterval(timer);
  process.stderr.write(`dropped ${lines.dropped}\n`);
}, 5);
