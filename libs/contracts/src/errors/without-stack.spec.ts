import { withoutStack } from './upstream-error.js';

describe('withoutStack', () => {
  it('takes no stack of an error that is made within, and one of the next', () => {
    const within = withoutStack(() => new Error('within'));
    expect(within.stack).toBe('Error: within');
    expect(new Error('after').stack).toContain('without-stack.spec');
  });

  it('takes stacks again after a throw', () => {
    const refuse = (): never => {
      throw new Error('within');
    };
    expect(() => withoutStack(refuse)).toThrow('within');
    expect(new Error('after').stack).toContain('without-stack.spec');
  });
});
