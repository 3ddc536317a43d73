import { seedOfBody } from './seed-of-body.js';
import { reasoningOf } from './reasoning-of.js';

describe('how a model is asked to reason', () => {
  it.each([
    [['thinking'], undefined, 'effort'],
    [['tools'], undefined, 'none'],
    [['thinking'], { style: 'none' } as const, 'none'],
    [['thinking'], { style: 'budget' } as const, 'budget'],
  ])('%j with %j is %s', (supports, given, style) => {
    expect(reasoningOf(supports, given).style).toBe(style);
    const body = {
      ...{ id: 'acme/m', name: 'm', model_type: 'text' as const, context_length: 10 },
      ...{ input_modalities: ['text'], output_modalities: ['text'], supports, reasoning: given },
    };
    expect(seedOfBody(body, '2026-11-24').reasoning.style).toBe(style);
  });
});
