import 'reflect-metadata';
import { getMetadataStorage } from 'class-validator';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** `[]` is a valid nested object to class-validator: it has no member that is wrong. */
it('ERR-51 a nested object of a body is an object and no list', async () => {
  const folder = import.meta.dirname;
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'));
  const classes = new Set<new () => object>();
  for (const file of files) {
    const members = (await import(join(folder, file))) as Record<string, unknown>;
    for (const member of Object.values(members))
      if (typeof member === 'function' && member.prototype) classes.add(member as new () => object);
  }
  const loose: string[] = [];
  let nested = 0;
  for (const type of classes) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    for (const { propertyName, type: kind, each } of rules) {
      if (kind !== 'nestedValidation') continue;
      nested += 1;
      const isObject = rules.some(
        (rule) =>
          rule.propertyName === propertyName &&
          rule.name === 'isObject' &&
          Boolean(rule.each) === Boolean(each),
      );
      if (!isObject) loose.push(`${type.name}.${propertyName}`);
    }
  }
  expect(nested).toBeGreaterThan(10);
  expect(loose).toEqual([]);
});
