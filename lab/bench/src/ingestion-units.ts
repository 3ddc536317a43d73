import {
  uuidv7,
  type Clock,
  type LogRecord,
  type Random,
  type Route,
  type UsageRecord,
} from '@gateway/contracts';
import { price } from '@gateway/money';

/** Organization and key of a unit. */
export interface UnitPlace {
  account: string;
  key: string;
  org: string;
  team: string;
  member: string;
}

/** Finished units as an edge ships them: one attempt, six scopes with spend, a capped key, priced from a snapshot. */
export class IngestionUnits {
  /** Number of the last unit made. */
  seq = 0;
  private readonly epoch: string;

  constructor(
    /** Each in turn; a number makes as many up. */
    private readonly places: number | readonly UnitPlace[],
    private readonly priced: { snapshotId: string; route: Route },
    private readonly sources: { clock: Clock; random: Random },
  ) {
    this.epoch = `bench-${uuidv7(sources.clock, sources.random)}`;
  }

  next(topic: string): LogRecord {
    this.seq += 1;
    const unit = this.unit(this.nextPlace());
    const envelope = {
      specversion: '1.0',
      id: `${unit.epoch}-${unit.seq}`,
      source: `/${unit.producer}`,
      type: topic,
      time: unit.created_at,
      datacontenttype: 'application/json',
      data: unit,
    };
    return { key: unit.account_id, value: JSON.stringify(envelope) };
  }

  private nextPlace(): UnitPlace {
    const { places, seq } = this;
    if (typeof places !== 'number') return places[seq % places.length];
    const n = seq % places;
    return {
      account: `acct_${n}`,
      key: `key_${n}`,
      org: `org_${n}`,
      team: `team_${n}`,
      member: `usr_${n}`,
    };
  }

  private unit(place: UnitPlace): UsageRecord {
    const { account, key, org, team, member } = place;
    const { clock, random } = this.sources;
    const { route, snapshotId } = this.priced;
    const id = uuidv7(clock, random);
    const createdAt = new Date(clock.now()).toISOString();
    const usage = { prompt_tokens: 200 + (this.seq % 50), completion_tokens: 40, requests: 1 };
    const context = {};
    const { cost_usd } = price({
      usage,
      record: route.price,
      tier: 'default',
      discountPct: null,
      byok: { served: false, feePct: '0' },
      context,
    });
    return {
      id: `use_${id}`,
      request_id: `req_${id}`,
      unit: 0,
      account_id: account,
      org_id: org,
      team_id: team,
      member_id: member,
      key_id: key,
      endpoint: '/v1/chat/completions',
      model: route.model,
      requested_model: route.model,
      provider: route.provider,
      status: 'success',
      outcome: 'served',
      http_status: 200,
      error_code: null,
      stream: false,
      usage,
      usage_estimated: false,
      priced_from: {
        snapshot_id: snapshotId,
        provider: route.provider,
        upstream_model: route.upstreamModel,
        tier: 'default',
        discount_pct: null,
        byok_served: false,
        byok_fee_pct: '0',
        context,
      },
      cost_usd,
      list_cost_usd: cost_usd,
      attempts: [attempt(route, createdAt, usage.prompt_tokens)],
      latency_ms: 815.1,
      ttft_ms: 211.9,
      created_at: createdAt,
      routing_fallback: false,
      byok_used: false,
      cache_hit: false,
      request_tags: { team: 'bench' },
      end_user_hash: null,
      api_version: '2026-08',
      limits: limits(place),
      producer: 'edge-bench',
      epoch: this.epoch,
      seq: this.seq,
    };
  }
}

function attempt(route: Route, startedAt: string, promptTokens: number): UsageRecord['attempts'][number] {
  return {
    n: 1,
    provider: route.provider,
    model: route.model,
    status: 'success',
    http_status: 200,
    error_code: null,
    provider_code: null,
    error_message: null,
    started_at: startedAt,
    latency_ms: 812.4,
    ttft_ms: 210.7,
    prompt_tokens: promptTokens,
    completion_tokens: 40,
    served: true,
    house_usd: null,
  };
}

function limits({ key, team, member, org }: UnitPlace): UsageRecord['limits'] {
  const reading = { rpm: 3, rpm_limit: 1_000, rpd: 40, rpd_limit: 100_000, cap_usd: null };
  return [
    { scope: 'key', scope_id: key, ...reading, cap_usd: '1000000' },
    { scope: 'team_member', scope_id: `${team}/${member}`, ...reading },
    { scope: 'member', scope_id: member, ...reading },
    { scope: 'team', scope_id: team, ...reading },
    { scope: 'org', scope_id: org, ...reading },
  ];
}
