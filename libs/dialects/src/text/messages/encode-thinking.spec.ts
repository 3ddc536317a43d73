import type { Part, Turn } from '../model-request.js';
import {
  adaptive,
  answers,
  budget,
  callPart,
  calls,
  effort,
  hi,
  ignored,
  refused,
  sent,
} from './encode.fixture.js';
import { encoded, TARGET, translatedRequest } from './messages.fixture.js';

describe('reasoning on a messages route', () => {
  it.each([
    ['minimal', 'low'],
    ['medium', 'medium'],
    ['xhigh', 'max'],
    ['max', 'max'],
  ] as const)('asks an adaptive model for %s as %s', (level, expected) => {
    const body = sent(effort(level), adaptive);
    expect(body.thinking).toEqual({ type: 'adaptive', display: 'summarized' });
    expect(body.output_config).toEqual({ effort: expected });
  });

  it('turns an adaptive model’s thinking off in words, and without an effort', () => {
    const body = sent(effort('none'), adaptive);
    expect(body.thinking).toEqual({ type: 'disabled' });
    expect(body).not.toHaveProperty('output_config');
    expect(sent(effort(null, 2000), adaptive).output_config).toEqual({ effort: 'medium' });
  });

  it('gives a manual model its share of the limit, and drops sampling', () => {
    const sampling = { ...translatedRequest({}).sampling, temperature: 0.2 };
    const { body, ignored: reported } = encoded(translatedRequest({ ...effort('medium'), sampling }), {
      ...TARGET,
      ...budget,
    });
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 4000 });
    expect(body).not.toHaveProperty('temperature');
    expect(reported).toEqual(['temperature']);
    expect(sent({ ...effort('low'), maxOutputTokens: 1025 }, budget).thinking).toMatchObject({
      budget_tokens: 1024,
    });
    expect(sent({ ...effort('max'), maxOutputTokens: 500_000 }, budget).thinking).toMatchObject({
      budget_tokens: 128_000,
    });
  });

  it('bug 44: reports an effort that the limit has no room for, and refuses such a budget', () => {
    expect(sent({ ...effort('high'), maxOutputTokens: 1024 }, budget)).not.toHaveProperty('thinking');
    expect(ignored({ ...effort('high'), maxOutputTokens: 1024 }, budget)).toEqual(['reasoning']);
    const error = refused({ ...effort(null, 8000) }, budget);
    expect([error.code, error.status, error.options.details?.[0].loc]).toEqual([
      'validation_error',
      422,
      ['reasoning', 'max_tokens'],
    ]);
  });

  it('bug 14: never sends a forced tool beside manual thinking, and says so', () => {
    const forced = { tools: [{ name: 'a' }], toolChoice: { mode: 'required' as const } };
    expect(refused({ ...effort('high'), ...forced }, budget).code).toBe('unsupported_operation');
    expect(sent({ ...effort('high'), ...forced }, adaptive).tool_choice).toEqual({ type: 'any' });
  });

  it('bug 16: goes on without thinking where the caller lost the thinking of a tool loop', () => {
    const turns = [hi, calls('a'), answers('a')];
    expect(sent({ ...effort('high'), turns }, budget)).not.toHaveProperty('thinking');
    expect(ignored({ ...effort('high'), turns }, budget)).toEqual(['reasoning']);
    const kept: Part = { type: 'reasoning', text: '', signature: 's', format: 'anthropic' };
    const whole: Turn[] = [hi, { role: 'assistant', parts: [kept, callPart('a')] }, answers('a')];
    expect(sent({ ...effort('high'), turns: whole }, budget)).toHaveProperty('thinking');
  });
});
