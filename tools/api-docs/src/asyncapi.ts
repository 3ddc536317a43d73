import {
  ACCOUNT_RECORDS,
  AccountEvent,
  AuditEntry,
  CatalogueEvent,
  DeadLetter,
  deadLetterTopic,
  RejectionRecord,
  TOPIC,
  UsageRecord,
  UsageRecordV2,
  MADE_OF_OTHERS,
  type Topic,
} from '@gateway/contracts';
import {
  classSchemas,
  nullableSchemas,
  withInherited,
  withReferenced,
  type Schema,
} from './class-schemas.js';
import type { SourceTypes } from './source-types.js';

const onTopic = Object.entries(ACCOUNT_RECORDS).filter(([event]) => !MADE_OF_OTHERS.has(event));

interface Record {
  type: { name: string };
  summary: string;
  /** Key of a record. */
  key: string;
  producers: string;
  headers?: Schema;
}

const TRACED: Schema = {
  type: 'object',
  properties: {
    traceparent: {
      type: 'string',
      description: "W3C trace context of the unit's request, where the edge is traced.",
    },
  },
};

const RECORDS: { readonly [Name in Topic]: Record } = {
  [TOPIC.usage]: {
    type: UsageRecord,
    summary: 'One finished unit with its attempts, priced.',
    key: 'account',
    producers: 'edges with USAGE_TOPIC_VERSION=1, the default',
    headers: TRACED,
  },
  [TOPIC.usageV2]: {
    type: UsageRecordV2,
    summary: 'The same unit in about half the bytes: usual values and repetitions are left out.',
    key: 'account',
    producers: 'edges with USAGE_TOPIC_VERSION=2',
    headers: TRACED,
  },
  [TOPIC.rejections]: {
    type: RejectionRecord,
    summary: 'One refusal before any model; added up above ten a second per key and code.',
    key: 'account',
    producers: 'edge',
  },
  [TOPIC.account]: {
    type: AccountEvent,
    summary: 'One account event, or a balance or spend movement.',
    key: 'account',
    producers: 'keys, usage, workers',
  },
  [TOPIC.audit]: {
    type: AuditEntry,
    summary: 'One change in an organization, for the audit log of the keys service.',
    key: 'organization',
    producers: 'usage, notifications',
  },
  [TOPIC.catalogue]: {
    type: CatalogueEvent,
    summary: 'A new snapshot of the catalogue. The topic is compacted.',
    key: 'the text "catalogue"',
    producers: 'catalogue',
  },
};

/** CloudEvents 1.0 around one record. */
function envelope(topic: string, data: Schema): Schema {
  return {
    type: 'object',
    required: ['specversion', 'id', 'source', 'type', 'time', 'datacontenttype', 'data'],
    properties: {
      specversion: { const: '1.0' },
      id: { type: 'string', description: 'Unique with source: the idempotency key of consumers.' },
      source: { type: 'string' },
      type: { const: topic },
      time: { type: 'string', format: 'date-time' },
      datacontenttype: { const: 'application/json' },
      data,
    },
  };
}

const schemaOf = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** Returns a topic's records by the name of their message: of the account topic one for each type of event. */
function payloads(topic: string, { type }: Record): { name: string; data: Schema }[] {
  if (topic !== TOPIC.account) return [{ name: type.name, data: schemaOf(type.name) }];
  return onTopic.map(([event, { name }]) => ({
    name,
    data: {
      allOf: [schemaOf(type.name), { properties: { type: { const: event }, data: schemaOf(name) } }],
    },
  }));
}

/** Topics of the fleet, their dead letters, and their records from the event classes, with the comments of the source. */
export function asyncApi(source: SourceTypes): Schema {
  const channels: { [name: string]: Schema } = {};
  const operations: { [name: string]: Schema } = {};
  const messages: { [name: string]: Schema } = {};
  const message = (topic: string, summary: string, key: string, data: Schema): Schema => ({
    name: topic,
    summary,
    contentType: 'application/cloudevents+json',
    payload: envelope(topic, data),
    bindings: { kafka: { key: { type: 'string', description: `Keyed by ${key}.` } } },
  });
  const referTo = (name: string): Schema => ({ $ref: `#/components/messages/${name}` });
  for (const [topic, record] of Object.entries(RECORDS)) {
    const { summary, key, producers, headers } = record;
    const found = payloads(topic, record);
    for (const { name, data } of found)
      messages[name] = { ...message(topic, summary, key, data), ...(headers && { headers }) };
    channels[topic] = {
      address: topic,
      description: `${summary} Written by ${producers}.`,
      messages: Object.fromEntries(found.map(({ name }) => [name, referTo(name)])),
    };
    const dead = deadLetterTopic(topic);
    const reason = `A record of ${topic} that a service could not apply.`;
    messages[dead] = message(dead, reason, key, schemaOf(DeadLetter.name));
    channels[dead] = { address: dead, description: reason, messages: { record: referTo(dead) } };
    operations[`receive ${topic}`] = { action: 'receive', channel: { $ref: `#/channels/${topic}` } };
  }
  const types = [
    ...Object.values(RECORDS).map(({ type }) => type),
    ...onTopic.map(([, type]) => type),
    DeadLetter,
  ];
  const schemas = Object.entries(
    withReferenced(
      nullableSchemas(withInherited(classSchemas(), types)),
      types.map(({ name }) => name),
    ),
  ).map(([name, schema]) => [name, source.withComments(name, schema)]);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Model Gateway topics',
      version: '1',
      description:
        'Records are at least once; of one producer those of a key are in order. A breaking change is a new topic version.',
    },
    defaultContentType: 'application/cloudevents+json',
    channels,
    operations,
    components: { messages, schemas: Object.fromEntries(schemas) as Schema },
  };
}
