import { PROVIDERS } from './registry.generated.js';

const route = { dialect: 'chat', price: { pricing_unit: 'per_1m_tokens' } };

describe('reasoning of earlier turns', () => {
  const wanted = Object.fromEntries(
    PROVIDERS.map(({ slug, quirks }) => [slug, quirks(route as never).returnsReasoning]).filter(
      ([, name]) => name !== undefined,
    ),
  ) as Record<string, string>;

  it('goes back to whom it helps, under the name that is read there, and to nobody else', () => {
    expect(wanted).toEqual({
      deepinfra: 'reasoning_content',
      deepseek: 'reasoning_content',
      fireworks: 'reasoning_content',
      minimax: 'text_details',
      moonshotai: 'reasoning_content',
      ollama: 'reasoning',
      'openai-compatible': 'both',
      openrouter: 'reasoning_details',
      together: 'reasoning_content',
      vllm: 'both',
      zai: 'reasoning_content',
    });
  });
});
