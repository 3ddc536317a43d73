/**
 * `@gateway/platform/flags`: what a command reads before it loads anything else. The whole platform brings Nest, Fastify
 * and class-validator: most of a second before a wrong flag would be answered.
 */
import { parseArgs, type ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<T extends Options> = ReturnType<typeof parseArgs<{ options: T; allowPositionals: true }>>;

/**
 * The flags of a command of this repository. `--help` prints its usage and ends with status 0. An unknown flag, a flag
 * without its value and a word where none is taken end with status 2 and one sentence.
 */
export function readFlags<T extends Options>(
  usage: string,
  options: T,
  { args = process.argv.slice(2), takesWords = false }: { args?: string[]; takesWords?: boolean } = {},
): Parsed<T> {
  if (args.includes('--help')) {
    process.stdout.write(`${usage.trimEnd()}\n`);
    process.exit(0);
  }
  try {
    const parsed = parseArgs({ args, options, allowPositionals: true });
    const [word] = parsed.positionals;
    if (takesWords || word === undefined) return parsed;
    return refuseFlags(`${word} is not known`);
  } catch (failure) {
    // Node's message goes on with advice about words that begin with a dash.
    const [sentence] = failure instanceof Error ? failure.message.split(/\. |\n/, 1) : [String(failure)];
    return refuseFlags(sentence);
  }
}

/** Ends with status 2 and the sentence. */
export function refuseFlags(sentence: string): never {
  process.stderr.write(`${sentence.replace(/\.$/, '')}. --help names the flags.\n`);
  process.exit(2);
}
