import { Badge, Button, Group, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRoles } from '../session/me.queries.js';
import { isAllowed } from '../session/rights.js';
import { CodeBlock } from '../shell/code-block.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { textOf } from './draft.js';
import { lineDiff } from './line-diff.js';
import classes from './prompt-page.module.css';
import { TemplateState } from './prompts-page.js';
import {
  useArchive,
  usePublish,
  useTemplate,
  useVersions,
  type Template,
  type Version,
} from './prompts.queries.js';
import { VersionForm } from './version-form.js';

export default function PromptPage(): ReactNode {
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const template = useTemplate(id);
  if (template.isPending) return <Loading height={320} />;
  if (template.isError) {
    return (
      <>
        <PageHead title="Prompt" />
        <ProblemCard failure={template.error} retry={() => void template.refetch()} />
      </>
    );
  }
  return <Shown template={template.data} />;
}

function Shown({ template }: { template: Template }): ReactNode {
  const { slug } = useOrg();
  const mayChange = isAllowed(useRoles(slug), ['owner', 'admin', 'alone']);
  const versions = useVersions(template.id);
  return (
    <>
      <PageHead
        title={template.name}
        about={
          <Group gap="xs">
            <TemplateState template={template} />
            {template.description}
          </Group>
        }
      >
        {mayChange && <Archive template={template} />}
      </PageHead>
      {versions.isPending && <Loading height={160} rows={2} />}
      {versions.isError && <ProblemCard failure={versions.error} retry={() => void versions.refetch()} />}
      {versions.isSuccess && (
        <Stack gap="lg">
          <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
            {mayChange && (
              <Panel
                title="Next version"
                about="A draft until it is published; requests do not see it before."
              >
                <VersionForm
                  key={versions.data.total}
                  templateId={template.id}
                  newest={versions.data.data.at(0)}
                />
              </Panel>
            )}
            <Stack>
              <Panel title="Versions">
                <Versions template={template} versions={versions.data.data} mayChange={mayChange} />
              </Panel>
              <Panel title="Call it">
                <CodeBlock code={snippet(template.name, versions.data.data)} label="example" />
              </Panel>
            </Stack>
          </SimpleGrid>
          {versions.data.data.length > 1 && <Compare versions={versions.data.data} />}
        </Stack>
      )}
    </>
  );
}

function Archive({ template }: { template: Template }): ReactNode {
  const archive = useArchive(template.id);
  return (
    <Stack gap={4} align="flex-end">
      <Button
        variant="default"
        loading={archive.isPending}
        onClick={() => archive.mutate(!template.archived)}
      >
        {template.archived ? 'Restore from the archive' : 'Archive'}
      </Button>
      {archive.error !== null && <ProblemCard failure={archive.error} />}
    </Stack>
  );
}

interface VersionsProps {
  template: Template;
  versions: readonly Version[];
  mayChange: boolean;
}

function Versions({ template, versions, mayChange }: VersionsProps): ReactNode {
  const publish = usePublish(template.id);
  if (versions.length === 0) return <Empty>There is no version yet: write the first one beside this.</Empty>;
  return (
    <Stack gap="sm">
      {versions.map((version) => (
        <Group key={version.id} justify="space-between" wrap="nowrap">
          <div>
            <Group gap="xs">
              <Text size="sm" fw={600}>
                Version {version.version}
              </Text>
              <Badge variant="light" color={version.status === 'published' ? 'green' : 'gray'}>
                {version.status}
              </Badge>
            </Group>
            <Text size="sm" c="dimmed" component="div">
              <When at={version.created_at} />
              {version.notes !== null && ` · ${version.notes}`}
            </Text>
          </div>
          {mayChange && version.status !== 'published' && (
            <Button
              size="xs"
              variant={version.status === 'draft' ? 'filled' : 'default'}
              loading={publish.isPending && publish.variables.id === version.id}
              aria-label={`${verb(version)} version ${version.version}`}
              onClick={() => publish.mutate(version)}
            >
              {verb(version)}
            </Button>
          )}
        </Group>
      ))}
      {publish.error !== null && <ProblemCard failure={publish.error} />}
    </Stack>
  );
}

function verb({ status }: Version): string {
  return status === 'draft' ? 'Publish' : 'Roll back to';
}

/** Two versions side by side; the URL holds which. */
function Compare({ versions }: { versions: readonly Version[] }): ReactNode {
  const [url, change] = useParamsOfUrl();
  const numbered = (text: string | undefined, otherwise: number): Version =>
    versions.find(({ version }) => String(version) === text) ?? versions[otherwise];
  const before = numbered(url.before, 1);
  const after = numbered(url.after, 0);
  const choice = (param: 'before' | 'after', label: string, value: Version): ReactNode => (
    <Select
      label={label}
      data={versions.map(({ version }) => ({ value: String(version), label: `Version ${version}` }))}
      allowDeselect={false}
      value={String(value.version)}
      onChange={(version) => change({ [param]: version })}
      w={160}
    />
  );
  const lines = lineDiff(wholeText(before), wholeText(after));
  return (
    <Panel title="Compare">
      <Group mb="sm">
        {choice('before', 'Before', before)}
        {choice('after', 'After', after)}
      </Group>
      <div className={classes.box} tabIndex={0} role="region" aria-label="Both versions side by side">
        {lines.map(({ before: left, after: right }, line) => (
          <div key={line} className={classes.line}>
            <Side sign={right === null ? '−' : ''} text={left} change={right === null ? 'removed' : null} />
            <Side sign={left === null ? '+' : ''} text={right} change={left === null ? 'added' : null} />
          </div>
        ))}
      </div>
    </Panel>
  );
}

interface SideProps {
  sign: string;
  text: string | null;
  change: 'removed' | 'added' | null;
}

function Side({ sign, text, change }: SideProps): ReactNode {
  return (
    <div className={change === null || text === null ? classes.side : `${classes.side} ${classes[change]}`}>
      {text !== null && `${sign === '' ? '' : `${sign} `}${text}`}
    </div>
  );
}

function wholeText({ messages }: Version): string {
  return messages.map(({ role, content }) => `# ${role}\n${textOf(content)}`).join('\n\n');
}

function snippet(name: string, versions: readonly Version[]): string {
  const shown = versions.find(({ status }) => status === 'published') ?? versions.at(0);
  const variables = Object.fromEntries((shown?.variables ?? []).map((variable) => [variable.name, '…']));
  return `curl ${location.origin}/v1/chat/completions \\
  -H "Authorization: Bearer $GATEWAY_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "simulator/chat", "template": ${JSON.stringify(name)},
    "variables": ${JSON.stringify(variables)}}'`;
}
