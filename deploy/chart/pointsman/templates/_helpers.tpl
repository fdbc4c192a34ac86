{{- define "pointsman.selectorLabels" -}}
app.kubernetes.io/name: pointsman
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "pointsman.labels" -}}
{{ include "pointsman.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: kube-proxy
{{- end }}

{{- define "pointsman.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default .Release.Name }}
{{- end }}

{{- define "pointsman.configMapName" -}}
{{- .Values.existingConfigMap | default .Release.Name }}
{{- end }}

{{- define "pointsman.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default (printf "%s%s" .Chart.AppVersion (eq .Values.mode "iptables" | ternary "-iptables" "")) }}
{{- end }}
{{- end }}

{{- /* What cannot work is said while rendering, not by Pods that end. */}}
{{- define "pointsman.check" -}}
{{- $mode := .Values.mode }}
{{- if and (eq $mode "ipvs") (not .Values.allowUnavailableMode) }}
{{- fail "mode ipvs is not there yet: Pointsman refuses to start in it. Use mode nftables." }}
{{- end }}
{{- $said := .Values.config.mode | default $mode }}
{{- if ne $said $mode }}
{{- fail (printf "config.mode is %s and mode is %s: remove config.mode, the value mode decides." $said $mode) }}
{{- end }}
{{- if not (or .Values.existingConfigMap .Values.apiServer) }}
{{- fail "apiServer is not set: give the API server's address as nodes reach it, such as https://10.0.0.10:6443. On a kubeadm cluster it is in: kubectl -n kube-system get configmap kube-proxy -o jsonpath='{.data.kubeconfig\\.conf}'" }}
{{- end }}
{{- if and .Values.podMonitor.enabled .Values.serviceMonitor.enabled }}
{{- fail "podMonitor and serviceMonitor are both enabled: every node would be scraped twice." }}
{{- end }}
{{- end }}

{{- define "pointsman.config" -}}
{{- $config := dict
  "apiVersion" "kubeproxy.config.k8s.io/v1alpha1"
  "kind" "KubeProxyConfiguration"
  "clientConnection" (dict "kubeconfig" "/var/lib/kube-proxy/kubeconfig.conf")
}}
{{- if or .Values.podMonitor.enabled .Values.serviceMonitor.enabled }}
{{- $_ := set $config "metricsBindAddress" "0.0.0.0:10249" }}
{{- end }}
{{- $config = mergeOverwrite $config (deepCopy .Values.config) }}
{{- $_ := set $config "mode" .Values.mode }}
{{- toYaml $config }}
{{- end }}

{{- /* The port of IP, IP:port or [IPv6]:port; without one, the standard. Takes a list: address, standard. */}}
{{- define "pointsman.port" -}}
{{- $address := index . 0 | default "" }}
{{- if regexMatch "^(\\[.*\\]|[^:]*):[0-9]+$" $address }}
{{- regexFind "[0-9]+$" $address }}
{{- else }}
{{- index . 1 }}
{{- end }}
{{- end }}

{{- /* The host to ask at; empty when all addresses are served, as the Pod's is then. */}}
{{- define "pointsman.host" -}}
{{- $address := . | default "" }}
{{- if regexMatch "^(\\[.*\\]|[^:]*):[0-9]+$" $address }}
{{- $address = regexReplaceAll ":[0-9]+$" $address "" }}
{{- end }}
{{- $address = trimAll "[]" $address }}
{{- if not (has $address (list "" "0.0.0.0" "::")) }}
{{- $address }}
{{- end }}
{{- end }}

{{- define "pointsman.healthCheck" -}}
{{- $address := .Values.config.healthzBindAddress -}}
port: {{ include "pointsman.port" (list $address "10256") }}
{{- with include "pointsman.host" $address }}
host: {{ . | quote }}
{{- end }}
{{- end }}
