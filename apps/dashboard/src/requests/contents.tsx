import { Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { count } from '../format/time.js';
import { CodeBlock } from '../shell/code-block.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { When } from '../shell/when.js';
import { shownJson } from './shown-json.js';
import type { Contents as Logged, useContents } from './requests.queries.js';

/**
 * Panel of a request's body and answer, where the organization logs them. Nobody sees it by chance: each look is
 * audited.
 */
export function Contents({ contents }: { contents: ReturnType<typeof useContents> }): ReactNode {
  const isNotKept = contents.error?.status === 404;
  return (
    <Panel title="Prompt and answer" about="Each look is in the audit log">
      {!contents.isSuccess && !isNotKept && (
        <Group>
          <Button variant="default" loading={contents.isPending} onClick={() => contents.mutate()}>
            Show prompt and answer
          </Button>
        </Group>
      )}
      {isNotKept && (
        <Text size="sm" role="status">
          Nothing is kept of it: the organization did not log it, or its time is over. Owners and admins turn
          logging on in the settings.
        </Text>
      )}
      {contents.error !== null && !isNotKept && <ProblemCard failure={contents.error} />}
      <Stack>
        {contents.data?.contents.map((unit) => (
          <Unit key={unit.unit} unit={unit} />
        ))}
      </Stack>
    </Panel>
  );
}

function Unit({ unit }: { unit: Logged['contents'][number] }): ReactNode {
  const { request, request_bytes: asked, response, response_bytes: answered, redactions } = unit;
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed" component="div">
        {count(redactions)} places masked. Removed <When at={unit.expires_at} />.
      </Text>
      <CodeBlock code={shownJson(request, asked)} label="what was asked" />
      <CodeBlock code={shownJson(response, answered)} label="what was answered" />
    </Stack>
  );
}
