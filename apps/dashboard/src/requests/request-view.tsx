import { Anchor, Badge, Button, Code, Group, SimpleGrid, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { asProblem } from '../api/problem.js';
import { codeWords } from '../format/code-words.js';
import { count, milliseconds } from '../format/time.js';
import { Line } from '../shell/line.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { replayOf } from '../shell/replay.js';
import { Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { Bill } from './bill.js';
import { Contents } from './contents.js';
import { CopyRequest } from './copy-request.js';
import { Fact } from './facts.js';
import { RecordJson } from './record-json.js';
import { Rejected } from './rejected.js';
import { useAttemptProviders, useContents, useKeyOwner, useLookup, type Lookup } from './requests.queries.js';
import { Waterfall } from './waterfall.js';

// Compares once the request stands there.
const OthersCost = lazy(async () => ({ default: (await import('./others-cost.js')).OthersCost }));

/** Record of a request, whether a model was called or it was rejected. */
export function RequestView({ id }: { id: string }): ReactNode {
  const org = useOrg();
  const lookup = useLookup(org.id, id);
  if (lookup.isPending) return <Loading height={320} />;
  if (lookup.isSuccess && lookup.data.outcome !== 'rejected') return <Found request={lookup.data} />;
  if (lookup.isSuccess) return <Rejected id={id} request={lookup.data} />;
  // A rejected line of a batch or of a comparison has no lookup, but it is among the rejections.
  if (asProblem(lookup.error).status === 404) return <Rejected id={id} request={null} />;
  return <ProblemCard failure={lookup.error} retry={() => void lookup.refetch()} />;
}

const GOOD = new Set(['served', 'cached']);

/** Endpoints that the playground can send to. */
const IN_PLAYGROUND = new Set(['/v1/chat/completions', '/v1/messages', '/v1/responses']);

function Found({ request }: { request: Lookup }): ReactNode {
  const { slug } = useOrg();
  const contents = useContents(request.request_id);
  const { endpoint, model } = request;
  const asked = contents.data?.contents[0]?.request;
  const replay = replayOf(asked);
  const names = useAttemptProviders(request);
  return (
    <Stack gap="lg">
      <Group justify="flex-end" gap="sm">
        {model !== null && IN_PLAYGROUND.has(endpoint) && (
          <Button
            component={Link}
            to={`/o/${slug}/playground?models=${model}`}
            state={replay === null ? undefined : { replay }}
            variant="default"
          >
            {replay === null ? 'Try in the playground' : 'Replay in the playground'}
          </Button>
        )}
        <CopyRequest request={request} body={asked} />
      </Group>
      <SimpleGrid type="container" cols={{ base: 2, '460px': 3, '900px': 6 }}>
        <Fact name="Outcome">
          <Badge variant="light" color={GOOD.has(request.outcome) ? 'green' : 'red'}>
            {request.outcome}
          </Badge>
        </Fact>
        <Fact name="Cost">
          <Money usd={request.cost_usd} isPrice />
        </Fact>
        <Fact name="Latency">{milliseconds(request.latency_ms)}</Fact>
        <Fact name="First token">{milliseconds(request.ttft_ms)}</Fact>
        <Fact name="Input tokens">{count(request.prompt_tokens)}</Fact>
        <Fact name="Output tokens">{count(request.completion_tokens)}</Fact>
      </SimpleGrid>
      <What request={request} />
      <Panel title="Timeline" about="From its arrival to its end">
        <Waterfall request={request} names={names} />
      </Panel>
      <Bill request={request} />
      <Suspense>{model !== null && <OthersCost request={{ ...request, model }} />}</Suspense>
      <Contents contents={contents} />
      <RecordJson request={request} />
    </Stack>
  );
}

function What({ request }: { request: Lookup }): ReactNode {
  const org = useOrg();
  const owner = useKeyOwner(org.id, request.key_id).data;
  const tags = Object.entries(request.request_tags);
  return (
    <Panel title="What was asked">
      <SimpleGrid type="container" cols={{ base: 1, '520px': 2 }} spacing="xs">
        <Line name="Endpoint">
          <Code>{request.endpoint}</Code>
        </Line>
        <Line name="Key">
          <Anchor component={Link} to={`/o/${org.slug}/keys/${request.key_id}`} size="sm">
            {request.key_label ?? request.key_id}
          </Anchor>
        </Line>
        {owner !== undefined && owner !== null && <Line name="Member">{owner}</Line>}
        {request.provider !== null && <Line name="Served by">{request.provider}</Line>}
        <Line name="Model">
          {request.model === null ? (
            '–'
          ) : (
            <Anchor component={Link} to={`/o/${org.slug}/models/${request.model}`} size="sm">
              {request.model}
            </Anchor>
          )}
          {request.requested_model !== null && request.requested_model !== request.model
            ? ` (asked for as ${request.requested_model})`
            : ''}
        </Line>
        <Line name="Began">
          <When at={request.created_at} />
        </Line>
        <Line name="Status">
          {request.http_status}
          {request.error_code === null ? '' : ` · ${codeWords(request.error_code)}`}
        </Line>
        <Line name="How">{traits(request)}</Line>
        <Line name="Tags">
          {tags.length === 0 ? 'none' : tags.map(([name, value]) => `${name}=${value}`).join(', ')}
        </Line>
      </SimpleGrid>
    </Panel>
  );
}

function traits(request: Lookup): string {
  const named = [
    request.cache_hit && 'answered from the cache',
    request.routing_fallback && 'served by a fallback',
    request.byok_used && 'on your own provider key',
    request.usage_estimated && 'usage estimated, because the provider reported none',
  ].filter((trait) => trait !== false);
  if (named.length > 0) return named.join(', ');
  return request.attempts.length === 0 ? 'no provider was called' : 'without a fallback';
}
