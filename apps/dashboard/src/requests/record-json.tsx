import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { CodeBlock } from '../shell/code-block.js';
import { Panel } from '../shell/panel.js';
import type { Lookup } from './requests.queries.js';

/** Panel of the record as the API answers it, opened on demand. */
export function RecordJson({ request }: { request: Lookup }): ReactNode {
  const [isOpen, { toggle }] = useDisclosure(false);
  return (
    <Panel title="Record" about="As GET /v1/usage/requests/{id} answers it">
      <Button variant="default" size="xs" aria-expanded={isOpen} onClick={toggle} mb={isOpen ? 'sm' : 0}>
        {isOpen ? 'Hide the JSON' : 'Show the JSON'}
      </Button>
      {isOpen && <CodeBlock code={JSON.stringify(request, null, 2)} label="the record" />}
    </Panel>
  );
}
