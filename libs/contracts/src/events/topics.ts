/** Topics of the fleet. A breaking change of a record is a new topic version: a finished unit is on one of its two. */
export const TOPIC = {
  usage: 'gateway.usage.v1',
  usageV2: 'gateway.usage.v2',
  rejections: 'gateway.rejections.v1',
  account: 'gateway.account.v1',
  audit: 'gateway.audit.v1',
  catalogue: 'gateway.catalogue.v1',
} as const;

export type Topic = (typeof TOPIC)[keyof typeof TOPIC];

/** Returns the topic for records that cannot be applied. */
export function deadLetterTopic(topic: string): string {
  return `${topic}.dlq`;
}
