import CDaemon
import Foundation
import TarnStore
import TarnText
import ToolSupport

/// The note that a running daemon leaves in its state folder, `running/NAME.json`: its
/// configuration and the address of its HTTP endpoint. So other commands find it although the
/// configuration names another address by now, or none.
///
/// The daemon owns the file by a lock. A file without an owner is of a daemon that was killed. The
/// process is known from the lock, and not from the file: root sends it signals. Any thread.
final class RunNote: Sendable {
  private static let folder = "running"

  private let path: String
  private let descriptor: Int32
  private let configuration: String
  private let name: String
  private let written = Lock<[UInt8]>([])

  /// - Throws: `ToolError` if it cannot be made, or if another daemon of that name has it.
  init(in stateFolder: String, name: String, of configuration: ConfigurationFiles) throws {
    let folder = "\(stateFolder)/\(Self.folder)"
    try PathRights.makeFolders(folder)
    path = "\(folder)/\(Positions.escaped(name)).json"
    self.configuration = Self.resolved(configuration.path)
    self.name = name
    // Neither a pipe nor the target of a link, whose content would be lost.
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw ToolError("cannot make", path, errno: errno) }
    guard Self.isRegular(descriptor) else {
      throw ToolError("\(path) is not a file: remove it")
    }
    let code = tarn_own_file(descriptor)
    guard code == 0 else { throw ToolError("cannot lock", path, errno: code) }
  }

  deinit { close(descriptor) }

  /// Removes it, when the daemon ends.
  func end() { unlink(path) }

  /// Notes where the daemon is asked; nil for nowhere.
  ///
  /// - Parameter listens: all places where it listens.
  func write(_ http: HTTPSettings?, _ listens: Set<String>) {
    var members = [
      JSONMember("configuration", .string(configuration)), JSONMember("name", .string(name)),
      JSONMember("listens", .array(listens.sorted().map { .string($0) })),
    ]
    switch http?.address {
    case nil: break
    case .socket(let path, _)?: members.append(JSONMember("socket", .string(path)))
    case .port(let host, let port)?:
      members += [JSONMember("host", .string(host)), JSONMember("port", .integer(Int64(port)))]
    }
    switch http?.token {
    case nil: break
    case .file(let path)?: members.append(JSONMember("token-file", .string(path)))
    case .environment(let name)?: members.append(JSONMember("token-env", .string(name)))
    case .credential(let name)?: members.append(JSONMember("token-credential", .string(name)))
    }
    let bytes = Array("\(JSONText.text(.object(members)))\n".utf8)
    written.withLock { written in
      if bytes == written { return }
      written = bytes
      // A reader that sees half of it finds no daemon.
      ftruncate(descriptor, 0)
      _ = pwrite(descriptor, bytes, bytes.count, 0)
    }
  }

  fileprivate static func isRegular(_ descriptor: Int32) -> Bool {
    var facts = stat()
    return fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
  }

  private static func resolved(_ path: String) -> String {
    guard let found = path.withPath({ realpath($0, nil) }) else { return path }
    defer { free(found) }
    return String(path: found)
  }
}

/// A daemon that runs with a configuration, as its note describes it.
struct NotedDaemon {
  let process: pid_t
  let name: String
  /// Nil if it cannot be asked.
  let http: HTTPSettings?
  /// Where it listens; nil for an earlier version, which did not note that.
  let listens: Set<String>?

  /// The daemon that runs with a configuration; nil if none has left a note that can be read.
  init?(_ configuration: ConfigurationFiles, _ settings: DaemonSettings) {
    for folder in Self.stateFolders(configuration, settings).map({ "\($0)/running" }) {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      for name in names.sorted() where name.endsWithBytes(of: ".json") {
        guard let found = NotedDaemon("\(folder)/\(name)", configuration.path) else { continue }
        self = found
        return
      }
    }
    return nil
  }

  private init?(_ path: String, _ configuration: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard RunNote.isRegular(descriptor) else { return nil }
    process = tarn_owner(descriptor)
    let size = FileFacts.of(descriptor: descriptor)?.byteCount ?? 0
    var bytes = [UInt8](repeating: 0, count: min(Int(size), 1 << 20))
    let count = max(0, pread(descriptor, &bytes, bytes.count, 0))
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    guard process > 0, Self.isDaemon(process), let json = try? JSONScanner.value(in: text),
      let noted = Self.text(json["configuration"]), let name = Self.text(json["name"]),
      FileFacts.at(noted)?.identity == FileFacts.at(configuration)?.identity
        || noted == configuration
    else { return nil }
    self.name = name
    if case .array(let places)? = json["listens"] {
      listens = Set(places.compactMap { Self.text($0) })
    } else {
      listens = nil
    }
    var http: HTTPSettings?
    if let socket = Self.text(json["socket"]) {
      http = HTTPSettings(address: .socket(socket, mode: 0))
    } else if let host = Self.text(json["host"]), case .integer(let port)? = json["port"] {
      http = HTTPSettings(address: .port(host: host, Int(port)))
    }
    http?.token =
      Self.text(json["token-file"]).map { .file($0) }
      ?? Self.text(json["token-env"]).map { .environment($0) }
      ?? Self.text(json["token-credential"]).map { .credential($0) }
    self.http = http
  }

  /// Whether a process runs this program, as far as that can be seen: it may get a signal.
  private static func isDaemon(_ process: pid_t) -> Bool {
    guard let name = FileManager.default.contents(atPath: "/proc/\(process)/comm") else {
      return true
    }
    return name.dropLast().elementsEqual(DaemonCommand.program.utf8)
  }

  private static func text(_ value: JSONValue?) -> String? {
    if case .string(let text)? = value { text } else { nil }
  }

  /// Where the daemon may keep its state: as configured, as systemd says, or as the package's units
  /// have it.
  private static func stateFolders(
    _ configuration: ConfigurationFiles, _ settings: DaemonSettings
  ) -> [String] {
    if let folder = settings.stateFolder { return [folder] }
    let given = ProcessInfo.processInfo.environment["STATE_DIRECTORY"]?.splitASCII(":").first
    if let given { return [String(given)] }
    guard let unit = UnitProperties.unit(of: configuration.path) else { return [] }
    let standard = "/var/lib/tarn"
    return [unit == "tarn.service" ? standard : "\(standard)/\(configuration.instance)"]
  }
}
