import type { LimitScript, PreparedScript } from '@gateway/limits';

/** EVALSHA as Redis reads it, one byte a character: all of it but the arguments that differ from call to call. */
export class ScriptText implements PreparedScript {
  readonly key: string;
  private readonly head: string;
  private readonly tail: string;
  private readonly parts: number;

  constructor(
    readonly script: LimitScript,
    keys: readonly string[],
    last: readonly string[],
  ) {
    this.key = keys[0];
    this.head = ['EVALSHA', script.sha, String(keys.length), ...keys].map(bulk).join('');
    this.tail = last.map(bulk).join('');
    this.parts = 3 + keys.length + last.length;
  }

  with(args: readonly string[]): string {
    let text = `*${this.parts + args.length}\r\n${this.head}`;
    for (let index = 0; index < args.length; index += 1) text += bulk(args[index]);
    return text + this.tail;
  }
}

function bulk(text: string): string {
  return `$${text.length}\r\n${text}\r\n`;
}
