import CDaemon
import Foundation
import SyncProgram
import TarnSync
import ToolSupport

/// Turns a configuration file into settings.
struct SettingsReader {
  let problems: MappingReader.Problems

  func daemon(_ node: YAMLNode, instance: String) -> DaemonSettings {
    let reader = MappingReader(node, path: "", problems)
    var settings = DaemonSettings(instance: reader.string("name") ?? instance)
    if let fault = Self.fault(inDaemonName: settings.instance) { reader.add("name", fault) }
    settings.stateFolder = absolute("state", reader)
    if let http = reader.mapping("http") { settings.http = self.http(http) }
    if let count = reader.integer("commands", in: 1...1000) { settings.commandsMax = count }
    settings.watches = reader.mappings("watches").map(watch)
    settings.syncs = reader.mappings("sync").map(sync)
    if !reader.has("watches"), !reader.has("sync") {
      problems.add(reader.line, "", "the key 'watches' is missing, or 'sync'")
    }
    reader.finish()
    return settings
  }

  private func absolute(_ key: String, _ reader: MappingReader) -> String? {
    guard let path = reader.string(key) else { return nil }
    if !path.beginsWithBytes(of: "/") { reader.add(key, "needs an absolute path, not '\(path)'") }
    return path
  }

  private func mode(_ reader: MappingReader) -> UInt32? {
    guard let text = reader.string("mode") else { return nil }
    // Without the 0, JSON and other readers of YAML take the number for a decimal one.
    let digits = text.rest(afterBytesOf: "0o") ?? text.rest(afterBytesOf: "0")
    if let mode = digits.flatMap({ UInt32($0, radix: 8) }), mode <= 0o777 { return mode }
    reader.add("mode", "needs octal rights with a 0 in front, such as 0660, not '\(text)'")
    return nil
  }

  private func http(_ reader: MappingReader) -> HTTPSettings {
    defer { reader.finish() }
    let listen = reader.required("listen")
    var settings = HTTPSettings(address: .socket(listen, mode: mode(reader) ?? 0o600))
    settings.token = reader.secret("token", orFile: "token-file")
    settings.hosts = reader.strings("hosts") ?? []
    settings.origins = reader.strings("origins") ?? []
    if listen.beginsWithBytes(of: "/") {
      if let fault = Self.fault(ofSocket: listen) { reader.add("listen", fault) }
    } else {
      guard let colon = listen.lastASCII(":"),
        let port = UInt16(listen[listen.utf8.index(after: colon)...])
      else {
        reader.add("listen", "needs an absolute path of a socket, or HOST:PORT, not '\(listen)'")
        return settings
      }
      settings.address = .port(host: String(listen[..<colon]), Int(port))
      if settings.token == nil {
        reader.add("listen", "needs a token-file, because anybody can connect to a port")
      }
      if reader.has("mode") { reader.add("mode", "is for a socket only") }
    }
    return settings
  }

  private func watch(_ reader: MappingReader) -> WatchSettings {
    let classes = classes(reader)
    var settings = WatchSettings(
      name: reader.required("name"), file: absolute("file", reader) ?? reader.required("file"),
      className: classes.first?.name ?? "")
    if reader.has("name"), let fault = Self.fault(inName: settings.name) {
      reader.add("name", fault)
    }
    settings.formerName = reader.string("rename")
    settings.filter = classes.first?.filter
    settings.columns = classes.first?.columns
    settings.moreClasses = Array(classes.dropFirst())
    settings.keeps = reader.keep("keep")
    settings.keepsOldValues = reader.bool("old-values") ?? false
    if let word = reader.choice("start", of: WatchSettings.Start.allCases.map(\.rawValue)) {
      settings.start = WatchSettings.Start(rawValue: word) ?? .snapshot
    }
    if let delivery = reader.mapping("delivery") { settings.delivery = self.delivery(delivery) }
    settings.sinks = reader.mappings("sinks").compactMap { sink($0, settings) }
    if settings.sinks.isEmpty { problems.add(reader.line, reader.path, "needs at least one sink") }
    reader.finish()
    return settings
  }

  private func classes(_ reader: MappingReader) -> [ClassSettings] {
    let columns = reader.strings("columns")
    let only = ClassSettings(
      name: reader.has("classes") ? reader.string("class") ?? "" : reader.required("class"),
      filter: reader.string("where"), columns: columns)
    let elements = reader.elements("classes")
    guard reader.has("classes") else { return [only] }
    for key in ["class", "where", "columns"] where reader.has(key) {
      reader.add(key, "there is 'classes', too: give it there")
    }
    let classes = elements.map { element in
      switch element {
      case .text(let name): return ClassSettings(name: name)
      case .mapping(let mapping):
        defer { mapping.finish() }
        return ClassSettings(
          name: mapping.required("class"), filter: mapping.string("where"),
          columns: mapping.strings("columns"))
      }
    }
    if classes.isEmpty { reader.add("classes", "needs at least one class") }
    for (index, one) in classes.enumerated()
    where classes[..<index].contains(where: { $0.name == one.name }) {
      reader.add("classes", "the class '\(one.name)' is there twice")
    }
    return classes
  }

  private func sync(_ reader: MappingReader) -> SyncSettings {
    var settings = SyncSettings(
      file: absolute("file", reader) ?? reader.required("file"), server: reader.required("server"))
    settings.classes = reader.strings("classes") ?? []
    settings.conditions = reader.strings("where") ?? []
    settings.passfile = absolute("passfile", reader)
    settings.timeout = reader.duration("timeout")
    if let time = settings.timeout, time <= .zero { reader.add("timeout", "must be longer than 0") }
    do {
      if !settings.server.isEmpty { _ = try ServerAddress(settings.server) }
    } catch {
      reader.add("server", error.message)
    }
    do {
      _ = try ChosenObjects(settings.conditions)
    } catch {
      reader.add("where", "needs 'CLASS: CONDITION'")
    }
    reader.finish()
    return settings
  }

  /// Names are parts of cursors' names and of addresses.
  private static func fault(inName name: String) -> String? {
    let isFine = name.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0))
    }
    return isFine && !name.isEmpty && name.utf8.count <= 64 && name != "." && name != ".."
      ? nil : "needs 1 to 64 letters, digits and '-', '_', '.', not '\(name)'"
  }

  /// Slashes divide the names of cursors into daemon, watch and sink.
  private static func fault(inDaemonName name: String) -> String? {
    name.isEmpty || name.utf8.count > 100 || name.utf8.contains { $0 < 0x20 || $0 == 0x2f }
      ? "needs 1 to 100 bytes of text without '/', not '\(name)'" : nil
  }

  private func delivery(_ reader: MappingReader) -> DeliverySettings {
    var settings = DeliverySettings()
    settings.isEveryCommit = reader.bool("every-commit") ?? false
    if let time = reader.duration("interval") { settings.interval = time }
    if let time = reader.duration("delay") { settings.delay = time }
    if let time = reader.duration("first-retry") { settings.firstRetry = time }
    if let time = reader.duration("last-retry") { settings.lastRetry = time }
    if settings.firstRetry <= .zero { reader.add("first-retry", "must be longer than 0") }
    if settings.lastRetry < settings.firstRetry {
      reader.add("last-retry", "must not be shorter than first-retry")
    }
    reader.finish()
    return settings
  }

  // MARK: - Sinks

  private static let kinds = ["exec", "file", "socket", "webhook", "events"]

  private func sink(_ reader: MappingReader, _ watch: WatchSettings) -> SinkSettings? {
    defer { reader.finish() }
    let given = Self.kinds.filter(reader.has)
    guard let kind = given.first, given.count == 1 else {
      let list = Self.kinds.joined(separator: ", ")
      problems.add(reader.line, reader.path, "needs exactly one of the keys \(list)")
      for kind in Self.kinds { _ = reader.node(kind) }
      return nil
    }
    let name = reader.string("name") ?? kind
    if let fault = Self.fault(inName: name) { reader.add("name", fault) }
    switch kind {
    case "exec":
      let exec = exec(reader)
      if !watch.moreClasses.isEmpty, KeyArguments.areTaken(by: exec.command) {
        reader.add(
          "exec", "'{key}' does not say of which class: give each class a watch of its own")
      }
      return SinkSettings(name: name, kind: .exec(exec), deadLetters: deadLetters(reader))
    case "file":
      return SinkSettings(
        name: name, kind: .file(FileSettings(path: absolute("file", reader) ?? "")))
    case "socket": return SinkSettings(name: name, kind: .socket(socket(reader)))
    case "webhook":
      return SinkSettings(
        name: name, kind: .webhook(webhook(reader)), deadLetters: deadLetters(reader))
    default: return SinkSettings(name: name, kind: .events(events(reader)))
    }
  }

  private func deadLetters(_ reader: MappingReader) -> DeadLetterSettings? {
    guard let node = reader.node("dead-letters") else { return nil }
    guard case .mapping = node.content else {
      return absolute("dead-letters", reader).map { DeadLetterSettings(path: $0) }
    }
    guard let keys = reader.mapping("dead-letters") else { return nil }
    var settings = DeadLetterSettings(path: absolute("file", keys) ?? keys.required("file"))
    if let count = keys.integer("after", in: 1...1000) { settings.attemptsMax = count }
    keys.finish()
    return settings
  }

  private func exec(_ reader: MappingReader) -> ExecSettings {
    var settings = ExecSettings(command: reader.strings("exec") ?? [])
    if settings.command.first?.isEmpty ?? true { reader.add("exec", "needs a program") }
    if let program = settings.command.first, KeyArguments.areTaken(by: [program]) {
      reader.add("exec", "'{key}' cannot be in the program's name")
    }
    if let time = reader.duration("timeout") { settings.timeout = time }
    if let time = reader.duration("grace") { settings.grace = time }
    settings.user = reader.string("user")
    if let user = settings.user {
      if geteuid() != 0 {
        reader.add("user", "only a daemon that runs as root can run commands as another user")
      } else if !tarn_user_exists(user) {
        reader.add("user", "there is no user '\(user)'")
      }
    }
    return settings
  }

  private func webhook(_ reader: MappingReader) -> WebhookSettings {
    var settings = WebhookSettings(url: "")
    if case .mapping? = reader.node("webhook")?.content, let keys = reader.mapping("webhook") {
      settings.urlSource = keys.secretSource()
      keys.finish()
    } else {
      settings.url = reader.required("webhook")
      if !WebhookSettings.isURL(settings.url) {
        reader.add("webhook", "needs a URL that begins with https:// or http://")
      }
    }
    settings.secret = reader.secret("secret", orFile: "secret-file")
    readHeaders(reader, &settings)
    if let time = reader.duration("timeout") { settings.timeout = time }
    if let bytes = reader.size("body") {
      settings.bodyBytes = bytes
      if bytes < 1000 { reader.add("body", "must be at least 1kB, which is 1000 bytes") }
    }
    settings.certificates = absolute("certificates", reader)
    return settings
  }

  private func readHeaders(_ reader: MappingReader, _ settings: inout WebhookSettings) {
    for element in reader.elements("headers") {
      guard case .mapping(let mapping) = element else {
        guard case .text(let line) = element else { continue }
        if let fault = WebhookHeaders.fault(in: line) { reader.add("headers", fault) }
        settings.headers.append(line)
        continue
      }
      let (name, prefix) = (mapping.required("name"), mapping.string("prefix") ?? "")
      if let fault = WebhookHeaders.fault(in: "\(name): \(prefix)") { mapping.add("name", fault) }
      if let source = mapping.secretSource() {
        settings.secretHeaders.append(SecretHeader(name: name, prefix: prefix, source: source))
      }
      mapping.finish()
    }
  }

  private func socket(_ reader: MappingReader) -> SocketSettings {
    var settings = SocketSettings(path: absolute("socket", reader) ?? "")
    if let fault = Self.fault(ofSocket: settings.path) { reader.add("socket", fault) }
    if let mode = mode(reader) { settings.mode = mode }
    if let time = reader.duration("patience") { settings.patience = time }
    if let count = reader.integer("clients", in: 1...10_000) { settings.clientsMax = count }
    return settings
  }

  /// The system would take only the beginning of a longer path.
  private static func fault(ofSocket path: String) -> String? {
    let most = UnixAddress.pathBytesMax
    return path.utf8.count > most ? "the path is longer than \(most) bytes" : nil
  }

  private func events(_ reader: MappingReader) -> EventSettings {
    var settings = EventSettings()
    if reader.bool("events") == false { reader.add("events", "must be true") }
    if let time = reader.duration("patience") { settings.patience = time }
    if let time = reader.duration("heartbeat") { settings.heartbeat = time }
    if settings.heartbeat <= .zero { reader.add("heartbeat", "must be longer than 0") }
    if let count = reader.integer("clients", in: 1...10_000) { settings.clientsMax = count }
    return settings
  }
}
