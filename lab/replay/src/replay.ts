import { join } from 'node:path';
import { startUpstreamDouble } from '@gateway/testing';
import { readExchanges } from './exchange.js';
import { startGateway } from './gateway.js';
import { replayGolden } from './golden.js';
import { replayExchange } from './recordings.js';
import type { Verdict } from './verdict.js';

function summary(verdicts: Verdict[]): string {
  const notSent = new Map<string, number>();
  for (const verdict of verdicts)
    if (verdict.kind === 'not sent') notSent.set(verdict.why, (notSent.get(verdict.why) ?? 0) + 1);
  const lines = [...notSent]
    .sort((a, b) => b[1] - a[1])
    .map(([why, times]) => `  ${String(times).padStart(4)}  ${why}`);
  const held = verdicts.filter(({ kind }) => kind === 'held').length;
  const failed = verdicts.filter(({ kind }) => kind === 'failed').length;
  return `${lines.length > 0 ? `not sent:\n${lines.join('\n')}\n` : ''}${held} held, ${failed} failed, ${verdicts.length - held - failed} not sent\n`;
}

/** Replays what the folder holds. Answers the exit code: 1 where an answer is another. */
export async function replay(folder: string, isGolden: boolean): Promise<number> {
  const upstream = await startUpstreamDouble();
  const gateway = await startGateway(upstream.url);
  const verdicts: Verdict[] = [];
  try {
    if (isGolden) verdicts.push(...(await replayGolden(join(folder), upstream, gateway)));
    else
      for (const [serial, exchange] of readExchanges(folder).entries())
        verdicts.push(await replayExchange(exchange, serial, upstream, gateway));
  } finally {
    await gateway.close();
    await upstream.close();
  }
  for (const verdict of verdicts)
    if (
      verdict.kind === 'failed' ||
      (verdict.kind === 'not sent' && (isGolden || verdict.why.includes('the gateway refuses')))
    )
      process.stdout.write(`${verdict.kind}: ${verdict.name}: ${verdict.why}\n`);
  process.stdout.write(summary(verdicts));
  return verdicts.some(({ kind }) => kind === 'failed') ? 1 : 0;
}
