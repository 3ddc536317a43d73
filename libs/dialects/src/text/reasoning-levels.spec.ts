import type { ReasoningStyle } from '@gateway/contracts';
import type { RouteTarget } from '../translation/translation.js';
import { sent, user, type Json } from './upstream-requests.fixture.js';

describe('reasoning at an upstream', () => {
  const asked = (effort: string, more: Partial<RouteTarget>, dialect = 'gemini'): Json => {
    const { body } = sent(dialect, { messages: [user('x')], reasoning: { effort } }, more);
    return body;
  };
  const config = (effort: string, more: Partial<RouteTarget> = {}): unknown =>
    (asked(effort, more).generationConfig as Json).thinkingConfig;

  it('is a level of the newer Geminis, never above the highest and none the lowest', () => {
    const efforts = ['low', 'medium', 'high'];
    const level = (effort: string): unknown => config(effort, { reasoning: { style: 'effort', efforts } });
    expect(['none', 'minimal', 'medium', 'xhigh'].map(level)).toEqual(
      ['LOW', 'LOW', 'MEDIUM', 'HIGH'].map((thinkingLevel) => ({ includeThoughts: true, thinkingLevel })),
    );
  });

  it('is XHIGH at those Geminis alone that list it, for xhigh, max and a budget near the largest output', () => {
    const reasoning: ReasoningStyle = { style: 'effort', efforts: ['low', 'medium', 'high', 'xhigh'] };
    const level = (asks: Json, more: Partial<RouteTarget>): unknown => {
      const { body } = sent('gemini', { messages: [user('x')], reasoning: asks }, more);
      return ((body.generationConfig as Json).thinkingConfig as Json).thinkingLevel;
    };
    const asks = [{ effort: 'high' }, { effort: 'xhigh' }, { effort: 'max' }, { max_tokens: 65_000 }];
    expect(asks.map((ask) => level(ask, { reasoning }))).toEqual(['HIGH', 'XHIGH', 'XHIGH', 'XHIGH']);
    const unlisted: ReasoningStyle = { style: 'effort' };
    expect(asks.map((ask) => level(ask, { reasoning: unlisted }))).toEqual(['HIGH', 'HIGH', 'HIGH', 'HIGH']);
  });

  it('is a budget of the 2.5 generation, within the bounds of the model', () => {
    const of = (effort: string, upstreamModel: string): unknown =>
      config(effort, { upstreamModel, reasoning: { style: 'budget' } });
    expect(of('medium', 'gemini-2.5-pro')).toEqual({ includeThoughts: true, thinkingBudget: 32_768 });
    expect(of('none', 'gemini-2.5-pro')).toEqual({ includeThoughts: true, thinkingBudget: 128 });
    expect(of('none', 'gemini-2.5-flash')).toEqual({ includeThoughts: true, thinkingBudget: 0 });
    expect(of('minimal', 'gemini-2.5-flash')).toEqual({ includeThoughts: true, thinkingBudget: 6_553 });
  });

  it('is a field of each family on Bedrock', () => {
    const extras = (upstreamModel: string, more: Partial<RouteTarget> = {}): unknown =>
      asked('high', { upstreamModel, ...more }, 'converse').additionalModelRequestFields;
    expect(extras('us.amazon.nova-2-lite-v1:0')).toEqual({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' },
    });
    expect(extras('openai.gpt-oss-120b-1:0')).toEqual({ reasoning_effort: 'high' });
    expect(extras('anthropic.claude-opus-5', { reasoning: { style: 'adaptive' } })).toEqual({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'high' },
    });
  });

  it('is a switch of Ollama, and a budget of Cohere', () => {
    expect(asked('high', { reasoning: { style: 'effort' } }, 'ollama').think).toBe(true);
    expect(asked('xhigh', {}, 'ollama').think).toBe('high');
    expect(asked('none', {}, 'cohere').thinking).toEqual({ type: 'disabled' });
    expect(asked('low', {}, 'cohere').thinking).toEqual({ type: 'enabled', token_budget: 1_638 });
    const messages = [user('x')];
    const limited = sent('cohere', { messages, reasoning_effort: 'medium', max_completion_tokens: 4_000 });
    expect(limited.body.thinking).toEqual({ type: 'enabled', token_budget: 2_000 });
  });
});
