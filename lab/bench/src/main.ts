// First, because it gives class-validator's decorators what they ask for at import.
import 'reflect-metadata';
import { readOptions } from './options.js';

const options = readOptions();
// After the flags: what it loads takes most of a second.
const { bench } = await import('./bench.js');
await bench(options);
