import {
  EventLog,
  type Clock,
  type Consumer,
  type LogRecord,
  type Random,
  type Subscription,
} from '@gateway/contracts';
import { backOffMs } from './back-off.js';
import { GroupMember } from './group-member.js';
import { TopicBuffer } from './topic-buffer.js';

export interface InProcessEventLogOptions {
  clock: Clock;
  random: Random;
  /** Each failure of a handler, for the log; its batch comes again. */
  onFault?: (error: unknown) => void;
  /** Characters that a topic holds before append waits for its consumers. Default 32 Mi. */
  topicCharsMax?: number;
  /** Time that stop waits for the current batch. Default 30 s. */
  stopTimeoutMs?: number;
}

const TOPIC_CHARS_MAX = 33_554_432;
const STOP_TIMEOUT_MS = 30_000;

/**
 * The event log of one process, in memory: what it holds is gone with the process, so whoever appends must be able to
 * append again until `kept` (the journal, the outbox). A record stays until each group that reads its topic has committed
 * it; of a topic that nobody reads the oldest records make room.
 */
export class InProcessEventLog extends EventLog {
  private readonly topics = new Map<string, TopicBuffer>();
  private readonly members = new Set<GroupMember>();
  private isClosed = false;
  private haveConsumersBegun = false;

  constructor(private readonly options: InProcessEventLogOptions) {
    super();
  }

  /** Waits while the topic is full; rejects once the log is closed. */
  async append(topic: string, records: LogRecord[]): Promise<void> {
    const buffer = this.topic(topic);
    await buffer.untilFree();
    if (this.isClosed) throw new Error('The event log is closed.');
    buffer.append(records);
    this.wakeMembers();
  }

  async consume(subscription: Subscription): Promise<Consumer> {
    if (this.isClosed) throw new Error('The event log is closed.');
    const { clock, random, onFault } = this.options;
    const groups = subscription.topics.map((topic) => this.topic(topic).group(subscription.group));
    const member = new GroupMember(groups, subscription, {
      clock,
      stopTimeoutMs: this.options.stopTimeoutMs ?? STOP_TIMEOUT_MS,
      backOffMs: (failures) => backOffMs(failures, random),
      onFault: (error) => onFault?.(error),
      onChange: () => this.wakeMembers(),
    });
    this.members.add(member);
    this.wakeMembers();
    member.start();
    return {
      stop: async () => {
        await member.stop();
        this.members.delete(member);
        this.wakeMembers();
      },
    };
  }

  /** Resolves when each group has committed the records; of a topic without one, once the consumers have begun. */
  override kept(topic: string): Promise<void> {
    return this.topic(topic).kept();
  }

  override consumersBegan(): void {
    this.haveConsumersBegun = true;
    for (const topic of this.topics.values()) topic.consumersBegan();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.members].map((member) => member.stop()));
    for (const topic of this.topics.values()) topic.close();
  }

  private wakeMembers(): void {
    for (const member of this.members) member.wake();
  }

  private topic(name: string): TopicBuffer {
    let topic = this.topics.get(name);
    if (topic === undefined) {
      topic = new TopicBuffer(name, this.options.topicCharsMax ?? TOPIC_CHARS_MAX);
      if (this.haveConsumersBegun) topic.consumersBegan();
      this.topics.set(name, topic);
    }
    return topic;
  }
}
