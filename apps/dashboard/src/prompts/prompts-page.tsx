import { Anchor, Badge, Button, Modal } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { newIdempotencyKey } from '../api/idempotency.js';
import { useRoles } from '../session/me.queries.js';
import { isAllowed } from '../session/rights.js';
import { CreateForm, type CreateField } from '../shell/create-form.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { TEMPLATES_A_PAGE, useCreateTemplate, useTemplates, type Template } from './prompts.queries.js';

export default function PromptsPage(): ReactNode {
  const { slug } = useOrg();
  const [url, change] = useParamsOfUrl();
  const mayChange = isAllowed(useRoles(slug), ['owner', 'admin', 'alone']);
  return (
    <>
      <PageHead
        title="Prompts"
        about="A prompt has versions. Requests name it, and run the version that is published."
      >
        {mayChange && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => change({ create: 'yes' })}>
            Create prompt
          </Button>
        )}
      </PageHead>
      <Templates />
      <Modal opened={url.create === 'yes'} onClose={() => change({ create: null })} title="Create a prompt">
        <Form />
      </Modal>
    </>
  );
}

function Templates(): ReactNode {
  const { id, slug } = useOrg();
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const templates = useTemplates(id, page);
  if (templates.isPending) return <Loading height={44} rows={4} />;
  if (templates.isError) {
    return <ProblemCard failure={templates.error} retry={() => void templates.refetch()} />;
  }
  const { data, total } = templates.data;
  if (total === 0) return <Empty>There is no prompt yet.</Empty>;
  const columns: Column<Template>[] = [
    {
      name: 'Prompt',
      cell: ({ id: template, name }) => (
        <Anchor component={Link} to={`/o/${slug}/prompts/${template}`} size="sm" fw={500}>
          {name}
        </Anchor>
      ),
    },
    { name: 'State', cell: (template) => <TemplateState template={template} /> },
    { name: 'Versions', isFigure: true, cell: ({ latest_version: latest }) => latest },
    { name: 'What for', cell: ({ description }) => description ?? '–' },
    { name: 'Changed', cell: ({ updated_at: at }) => <When at={at} /> },
  ];
  return (
    <>
      <DataTable label="Prompts" columns={columns} rows={data} rowKey={({ id: template }) => template} />
      <Pager
        page={page}
        rows={TEMPLATES_A_PAGE}
        total={total}
        onChange={(next) => change({ page: next === 1 ? null : String(next) })}
      />
    </>
  );
}

export function TemplateState({ template }: { template: Template }): ReactNode {
  if (template.archived) {
    return (
      <Badge variant="light" color="gray">
        archived
      </Badge>
    );
  }
  const isPublished = template.published_version_id !== null;
  return (
    <Badge variant="light" color={isPublished ? 'green' : 'yellow'}>
      {isPublished ? 'published' : 'draft'}
    </Badge>
  );
}

const FIELDS: readonly CreateField[] = [
  {
    name: 'name',
    label: 'Name',
    description: 'Requests name it: letters, digits, dots, - and _',
    required: true,
  },
  { name: 'description', label: 'What for', isLong: true },
];

function Form(): ReactNode {
  const { id, slug } = useOrg();
  const navigate = useNavigate();
  const [idempotencyKey] = useState(newIdempotencyKey);
  const create = useCreateTemplate(idempotencyKey);
  return (
    <CreateForm
      fields={FIELDS}
      write={create}
      action="Create prompt"
      onSubmit={({ name = '', description }) =>
        create.mutate(
          { name, description, ...(id === null ? {} : { org_id: id }) },
          { onSuccess: (template) => void navigate({ to: `/o/${slug}/prompts/${template.id}` }) },
        )
      }
    />
  );
}
