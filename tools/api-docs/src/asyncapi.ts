import {
  AccountEvent,
  CatalogueEvent,
  deadLetterTopic,
  RejectionRecord,
  TOPIC,
  UsageRecord,
  type Topic,
} from '@gateway/contracts';
import { classSchemas, nullableSchemas, withReferenced, type Schema } from './class-schemas.js';

interface Record {
  type: { name: string };
  summary: string;
  /** What a record is keyed by. */
  key: string;
  producers: string;
}

const RECORDS: { readonly [Name in Topic]: Record } = {
  [TOPIC.usage]: {
    type: UsageRecord,
    summary: 'One finished unit with its attempts, priced.',
    key: 'account',
    producers: 'edge',
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
    producers: 'keys, usage',
  },
  [TOPIC.catalogue]: {
    type: CatalogueEvent,
    summary: 'A new snapshot of the catalogue. The topic is compacted.',
    key: 'the text "catalogue"',
    producers: 'catalogue',
  },
};

/** CloudEvents 1.0 around one record. */
function envelope(topic: string, data: string): Schema {
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
      data: { $ref: `#/components/schemas/${data}` },
    },
  };
}

/** Topics of the fleet, their dead letters, and their records from the event classes. */
export function asyncApi(): Schema {
  const channels: { [name: string]: Schema } = {};
  const operations: { [name: string]: Schema } = {};
  const messages: { [name: string]: Schema } = {};
  for (const [topic, { type, summary, key, producers }] of Object.entries(RECORDS)) {
    const message = { $ref: `#/components/messages/${type.name}` };
    messages[type.name] = {
      name: topic,
      summary,
      contentType: 'application/cloudevents+json',
      payload: envelope(topic, type.name),
      bindings: { kafka: { key: { type: 'string', description: `Keyed by ${key}.` } } },
    };
    channels[topic] = {
      address: topic,
      description: `${summary} Written by ${producers}.`,
      messages: { record: message },
    };
    const dead = deadLetterTopic(topic);
    channels[dead] = {
      address: dead,
      description: `Records of ${topic} that could not be applied: key and value as they were.`,
    };
    operations[`receive ${topic}`] = { action: 'receive', channel: { $ref: `#/channels/${topic}` } };
  }
  const schemas = withReferenced(
    nullableSchemas(classSchemas()),
    Object.values(RECORDS).map(({ type }) => type.name),
  );
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Model Gateway topics',
      version: '1',
      description:
        'Records are at least once and in order per key. A breaking change is a new topic version.',
    },
    defaultContentType: 'application/cloudevents+json',
    channels,
    operations,
    components: { messages, schemas },
  };
}
