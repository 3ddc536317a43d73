{{/* One variable from the Secret of the installation. */}}
{{- define "gateway.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef: { name: {{ .root.Values.secrets.name }}, key: {{ .name }}, optional: {{ .optional }} }
{{- end -}}

{{/* Each of the following gives plain variables as a YAML object. Empty values are left out. */}}
{{- define "gateway.redisVariables" -}}
{{- $redis := .Values.redis }}
{{- if $redis.clusterNodes }}
REDIS_CLUSTER_NODES: {{ join "," $redis.clusterNodes | quote }}
{{- else if $redis.sentinels }}
REDIS_SENTINELS: {{ join "," $redis.sentinels | quote }}
REDIS_SENTINEL_NAME: {{ required "redis.sentinelName is the name of the master that the sentinels know" $redis.sentinelName | quote }}
{{- else }}
REDIS_URL: {{ printf "%s://%s" (ternary "rediss" "redis" $redis.tls) $redis.address | quote }}
{{- end }}
REDIS_TLS: {{ $redis.tls | quote }}
REDIS_TLS_CA_FILE: {{ $redis.caFile | quote }}
REDIS_USERNAME: {{ $redis.username | quote }}
{{- end -}}

{{- define "gateway.kafkaVariables" -}}
{{- $kafka := .Values.kafka }}
KAFKA_BROKERS: {{ join "," $kafka.brokers | quote }}
KAFKA_TLS: {{ $kafka.tls | quote }}
KAFKA_TLS_CA_FILE: {{ $kafka.caFile | quote }}
KAFKA_SASL_MECHANISM: {{ $kafka.saslMechanism | quote }}
KAFKA_SASL_USERNAME: {{ $kafka.saslUsername | quote }}
KAFKA_SASL_TOKEN_FILE: {{ $kafka.saslTokenFile | quote }}
{{- end -}}

{{- define "gateway.objectVariables" -}}
{{- $objects := .Values.objects }}
OBJECT_STORE_PUBLIC_URL: {{ .Values.publicUrl | quote }}
{{- if $objects.bucket }}
S3_BUCKET: {{ $objects.bucket | quote }}
S3_REGION: {{ $objects.region | quote }}
S3_PATH_STYLE: {{ $objects.pathStyle | quote }}
S3_ENDPOINT: {{ $objects.endpoint | quote }}
{{- else }}
OBJECT_STORE_DIR: /var/lib/gateway-objects
{{- end }}
{{- end -}}

{{/* What every service of a fleet is told; `config` and the service's own `env` win over it. */}}
{{- define "gateway.fleetVariables" -}}
{{- $name := include "gateway.fullname" .root }}
HOST: 0.0.0.0
PORT: '8080'
METRICS_PORT: '9464'
DRAIN_ACCEPT_MS: {{ mul .root.Values.drainAcceptSeconds 1000 | toString | quote }}
DRAIN_GRACE_MS: {{ mul .drainGraceSeconds 1000 | toString | quote }}
MAIL_DIR: /var/spool/gateway
{{- range list "catalogue" "keys" "usage" "notifications" "workers" "edge" }}
{{ upper . }}_URL: {{ printf "http://%s-%s:8080" $name . | quote }}
{{- end }}
KEYS_PUBLIC_URL: {{ .root.Values.publicUrl | quote }}
ALERTS_PUBLIC_URL: {{ .root.Values.publicUrl | quote }}
BILLING_RETURN_URL: {{ printf "%s/dashboard/" .root.Values.publicUrl | quote }}
{{- if .root.Values.gatewayConfig }}
GATEWAY_CONFIG: /etc/gateway/gateway.yaml
{{- end }}
{{ include "gateway.redisVariables" .root }}
{{ include "gateway.kafkaVariables" .root }}
{{ include "gateway.objectVariables" .root }}
{{- end -}}

{{/* A list of variables from an object of them; empty ones are left out. */}}
{{- define "gateway.variables" -}}
{{- range $key, $value := . }}
{{- if ne ($value | toString) "" }}
- { name: {{ $key }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{/* Names of the Secret's keys that a service reads: [required, optional]. */}}
{{- define "gateway.secrets" -}}
{{- $required := list "FLEET_TOKEN" }}
{{- $optional := list "REDIS_PASSWORD" "REDIS_SENTINEL_PASSWORD" "KAFKA_SASL_PASSWORD" "OTEL_EXPORTER_OTLP_HEADERS" }}
{{- if eq .component "keys" }}
{{- $required = concat $required (list "KEYS_PEPPER" "KEYS_KEK") }}
{{- $optional = concat $optional (list "KEYS_PEPPER_PREVIOUS" "KEYS_KEK_PREVIOUS" "OIDC_CLIENT_SECRET" "SMTP_URL" "HTTPS_PROXY") }}
{{- else if eq .component "notifications" }}
{{- $required = concat $required (list "NOTIFICATIONS_KEK") }}
{{- $optional = concat $optional (list "NOTIFICATIONS_KEK_PREVIOUS" "SMTP_URL") }}
{{- else if eq .component "usage" }}
{{- $optional = concat $optional (list "USAGE_KEK" "USAGE_KEK_PREVIOUS" "STRIPE_SECRET_KEY" "STRIPE_WEBHOOK_SECRET" "USAGE_READS_DATABASE_URL") }}
{{- else if or (eq .component "edge") (eq .component "catalogue") }}
{{- $optional = concat $optional (list "HTTPS_PROXY") }}
{{- end }}
{{- if has .component (list "edge" "workers") }}
{{- $optional = concat $optional (list "S3_ACCESS_KEY_ID" "S3_SECRET_ACCESS_KEY") }}
{{- end }}
{{- if ne .component "edge" }}
{{- $optional = concat $optional (list "DATABASE_URL" (printf "%s_DATABASE_URL" (upper .component))) }}
{{- end }}
{{- dict "required" $required "optional" $optional | toYaml }}
{{- end -}}

{{/* Variables of one service of a fleet: those of its own, plain ones, then those from the Secret. */}}
{{- define "gateway.environment" -}}
{{- $root := .root }}
{{- $plain := include "gateway.fleetVariables" . | fromYaml }}
{{- include "gateway.variables" (mergeOverwrite $plain (deepCopy (.own | default dict)) (deepCopy .root.Values.config) (deepCopy .env)) }}
{{- $secrets := include "gateway.secrets" . | fromYaml }}
{{- range $secrets.required }}
{{ include "gateway.secretVariable" (dict "root" $root "name" . "optional" false) }}
{{- end }}
{{- range $secrets.optional }}
{{ include "gateway.secretVariable" (dict "root" $root "name" . "optional" true) }}
{{- end }}
{{- end -}}

{{- define "gateway.volumeMounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: tmp, mountPath: /var/spool/gateway, subPath: mail }
{{- if .root.Values.gatewayConfig }}
- { name: gateway-config, mountPath: /etc/gateway, readOnly: true }
{{- end }}
{{- if and (has .component (list "edge" "workers")) .root.Values.objects.existingClaim (not .root.Values.objects.bucket) }}
- { name: objects, mountPath: /var/lib/gateway-objects }
{{- end }}
{{- end -}}

{{- define "gateway.volumes" -}}
- name: tmp
  emptyDir: {}
{{- if .root.Values.gatewayConfig }}
- name: gateway-config
  configMap: { name: {{ include "gateway.fullname" .root }}-config }
{{- end }}
{{- if and (has .component (list "edge" "workers")) .root.Values.objects.existingClaim (not .root.Values.objects.bucket) }}
- name: objects
  persistentVolumeClaim: { claimName: {{ .root.Values.objects.existingClaim }} }
{{- end }}
{{- end -}}
