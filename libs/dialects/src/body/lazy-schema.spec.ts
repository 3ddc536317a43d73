import { LazySchema } from './lazy-schema.js';

describe('a schema that is compiled when it is needed', () => {
  it('refuses at its load what is no schema', () => {
    const faulty = new LazySchema(
      { type: 'object', properties: { model: { type: 'words' } } },
      { strict: false },
    );
    expect(() => faulty.load()).toThrow(/schema is invalid: data\/properties\/model\/type/);
  });

  it('holds what it compiled', () => {
    const schema = new LazySchema({ type: 'object', required: ['model'] }, { strict: false });
    expect([schema.validate({ model: 'a/b' }), schema.validate({})]).toEqual([true, false]);
    expect(schema.validate).toBe(schema.validate);
  });
});
