import type { UpstreamBody } from '../translation/upstream-body.js';
import type { BatchCalls, BatchPlace } from './batches-dialect.js';

type Json = Record<string, unknown>;

/** Calls that are answered with these, one after the other, and what was sent. */
export function calls(answers: Json[], place?: BatchPlace): BatchCalls & { sent: UpstreamBody[] } {
  const sent: UpstreamBody[] = [];
  return {
    sent,
    place,
    put: async (request) => void sent.push(request),
    send: async (request) => {
      sent.push(request);
      return answers.shift() ?? {};
    },
  };
}

export function textOf({ pieces }: UpstreamBody): string {
  return Buffer.concat(pieces).toString('utf8');
}
