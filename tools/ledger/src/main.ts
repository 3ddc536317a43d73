import 'reflect-metadata';
import { readWords, runCommand, USAGE } from './commands.js';

const words = process.argv.slice(2);
if (words.length === 0) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  // Before anything is loaded or connected to.
  readWords(words);
  const { openLetters, openOperator } = await import('./operator.js');
  try {
    const letters = openLetters(process.env);
    const operator = await openOperator(process.env);
    const print = (line: string): void => void process.stdout.write(`${line}\n`);
    try {
      process.exitCode = await runCommand(words, operator, print, letters);
    } finally {
      await Promise.all([operator.close(), letters?.close()]);
    }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
