import type { UpstreamBody } from '../translation/upstream-body.js';
import type { BatchCalls } from './batches-dialect.js';

type Json = Record<string, unknown>;

/** Calls that are answered with these, one after the other, and what was sent. */
export function calls(answers: Json[]): BatchCalls & { sent: UpstreamBody[] } {
  const sent: UpstreamBody[] = [];
  return {
    sent,
    send: async (request) => {
      sent.push(request);
      return answers.shift() ?? {};
    },
  };
}

export function textOf({ pieces }: UpstreamBody): string {
  return Buffer.concat(pieces).toString('utf8');
}
