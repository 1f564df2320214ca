{{/* Every object's name begins with the release's, or with what stands in its place. */}}
{{- define "berth.name" -}}
{{ .Values.fullnameOverride | default .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "berth.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "berth.name" .) }}
{{- end }}

{{- define "berth.image" -}}
{{ .Values.image.repository }}
{{- if .Values.image.digest }}@{{ .Values.image.digest }}
{{- else }}:{{ .Values.image.tag | default (printf "v%s" .Chart.AppVersion) }}
{{- end }}
{{- end }}

{{- define "berth.labels" -}}
app.kubernetes.io/name: berth
app.kubernetes.io/component: scheduler
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The KubeSchedulerConfiguration in use. */}}
{{- define "berth.config" -}}
{{- $config := .Files.Get "files/config.yaml" | fromYaml }}
{{- $_ := set $config.leaderElection "resourceName" (include "berth.name" .) }}
{{- $_ := set $config.leaderElection "resourceNamespace" .Release.Namespace }}
{{- $_ := set $config "profiles" (list (dict "schedulerName" .Values.schedulerName)) }}
{{- mergeOverwrite $config (deepCopy .Values.config) | toYaml }}
{{- end }}

{{/* The rules of the one object of that kind in the file: call with (dict "files" .Files "file" file "kind" kind). */}}
{{- define "berth.rules" -}}
{{- range splitList "\n---\n" (.files.Get .file) }}
{{- $object := fromYaml . }}
{{- if eq $object.kind $.kind }}
{{- toYaml $object.rules }}
{{- end }}
{{- end }}
{{- end }}

{{/* "true" if a profile enables the plugin: call with (dict "config" config "plugin" name). */}}
{{- define "berth.enables" -}}
{{- range .config.profiles }}
{{- range (.plugins | default dict) }}
{{- range (. | default dict).enabled }}
{{- if eq .name $.plugin }}true{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "berth.subjects" -}}
- kind: ServiceAccount
  name: {{ include "berth.serviceAccount" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}
