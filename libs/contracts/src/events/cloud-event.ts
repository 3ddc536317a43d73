/** CloudEvents 1.0, JSON format. https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md */
export interface CloudEvent<Data> {
  specversion: '1.0';
  /** Unique with `source`; the idempotency key of consumers. */
  id: string;
  /** The producer, for example "/edge/<producer id>". */
  source: string;
  /** The topic's name. */
  type: string;
  /** ISO 8601 UTC. */
  time: string;
  datacontenttype: 'application/json';
  data: Data;
}
