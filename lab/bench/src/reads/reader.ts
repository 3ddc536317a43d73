import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../figures.js';
import type { Asker, Question } from './questions.js';

export interface ReadFigures {
  count: number;
  p50: number;
  p95: number;
}

/** Time between two reads of one reader: dashboards rest as well. */
const REST_MS = 20;

/** Asks again and again, one request at a time, and takes the time until the answer is read. Throws for an answer that is no success. */
export async function ask(baseUrl: string, question: Question, asker: Asker, n: number): Promise<number> {
  const { method, path, as, body } = question.ask(asker, n);
  const begin = performance.now();
  const answer = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${as}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${question.id}: ${answer.status} ${text.slice(0, 500)}`);
  return performance.now() - begin;
}

export async function measureReads(
  baseUrl: string,
  question: Question,
  asker: () => Promise<Asker>,
  bounds: { reads: number; seconds: number },
): Promise<ReadFigures> {
  const times: number[] = [];
  const end = performance.now() + bounds.seconds * 1_000;
  const who = await asker();
  for (let n = 0; n < bounds.reads && (n < 3 || performance.now() < end); n += 1) {
    times.push(await ask(baseUrl, question, who, n));
    await pause(REST_MS);
  }
  return figuresOf(times);
}

export function figuresOf(times: number[]): ReadFigures {
  times.sort((a, b) => a - b);
  return { count: times.length, p50: percentile(times, 0.5), p95: percentile(times, 0.95) };
}
