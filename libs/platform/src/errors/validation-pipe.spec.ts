import { Type } from 'class-transformer';
import { IsArray, IsObject, IsOptional, ValidateNested } from 'class-validator';
import fc from 'fast-check';
import { FleetBody } from '@gateway/contracts';
import { PageQuery } from '../http/page.js';
import { validationPipe } from './validation-pipe.js';

describe('a query', () => {
  const pipe = validationPipe();
  const read = (value: object) => pipe.transform(value, { type: 'query', metatype: PageQuery });

  it('READ-50 of any read takes refresh, which no handler sees; another value of it and other names are 422', async () => {
    for (const refresh of ['true', 'false'])
      expect({ ...((await read({ refresh, limit: '5' })) as PageQuery) }).toEqual({ limit: 5, offset: 0 });
    for (const query of [{ refresh: 'soon' }, { fresh: 'true' }])
      await expect(read(query)).rejects.toMatchObject({ code: 'validation_error' });
    await expect(
      pipe.transform({ refresh: 'true' }, { type: 'body', metatype: PageQuery }),
    ).rejects.toMatchObject({ code: 'validation_error' });
  });
});

describe('texts that a database cannot hold', () => {
  const pipe = validationPipe();
  const of = (type: 'body' | 'query' | 'param', value: unknown) =>
    pipe.transform(value, { type, metatype: Object });

  it.each<[unknown, (string | number)[]]>([
    [{ email: '\ud800' }, ['email']],
    [{ a: [{ b: 'x\0' }] }, ['a', 0, 'b']],
    [{ 'a\0': 1 }, ['a']],
  ])('ERR-05 are 422 with their place: %j', async (body, loc) => {
    await expect(of('body', body)).rejects.toMatchObject({
      code: 'validation_error',
      options: { details: [{ loc }] },
    });
    await expect(of('query', body)).rejects.toMatchObject({
      options: { details: [{ loc }] },
    });
  });

  it('are 404 as a part of the path, and whole pairs of surrogates are no such text', async () => {
    await expect(of('param', 'a\0')).rejects.toMatchObject({ code: 'not_found' });
    await expect(of('param', 'key_1')).resolves.toBe('key_1');
    await expect(of('body', { a: '🦊' })).resolves.toEqual({ a: '🦊' });
  });
});

class Handed extends FleetBody {
  @IsArray() list!: unknown[];
}

it('EDGE-06 what a service of the fleet hands on holds any text, and its other rules stand', async () => {
  const pipe = validationPipe();
  const read = (value: object) => pipe.transform(value, { type: 'body', metatype: Handed });
  const list = ['\0', { '\ud800': ['\udc00'] }];
  expect({ ...((await read({ list })) as Handed) }).toEqual({ list });
  await expect(read({ list: 1 })).rejects.toMatchObject({ code: 'validation_error' });
  await expect(read({ list, more: 1 })).rejects.toMatchObject({ code: 'validation_error' });
});

class Part {
  @IsOptional() @IsObject() free?: Record<string, unknown>;
}

class Free {
  @IsObject() free!: Record<string, unknown>;
  @IsArray() list!: unknown[];
  @IsArray() @IsObject({ each: true }) @ValidateNested({ each: true }) @Type(() => Part) parts!: Part[];
}

it('EDGE-06 values of members without a class come out as they went in, whatever their names are', async () => {
  const pipe = validationPipe();
  const names = fc.oneof(
    fc.constantFrom(...Object.getOwnPropertyNames(Object.prototype), 'prototype', 'then', 'length'),
    fc.string(),
  );
  const { value } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 1 }),
      tie('object'),
      fc.array(tie('value'), { maxLength: 3 }),
    ),
    object: fc.dictionary(names, tie('value'), { maxKeys: 4 }),
  }));
  const object = fc.dictionary(names, value, { maxKeys: 4 });
  const before = Object.getOwnPropertyNames(Object.prototype);
  await fc.assert(
    fc.asyncProperty(object, fc.array(value), fc.array(object), async (free, list, others) => {
      const text = JSON.stringify({ free, list, parts: others.map((other) => ({ free: other })) });
      fc.pre(!/\\u0000|\\ud[89a-f]/.test(text));
      const body: unknown = JSON.parse(text);
      const entity: unknown = await pipe.transform(body, { type: 'body', metatype: Free });
      expect(entity).toBeInstanceOf(Free);
      expect(JSON.stringify(entity)).toBe(text);
    }),
  );
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
});
