import CDaemon
import Foundation
import ToolSupport

/// What stands against a sink of a watch: a missing program, folder, secret or certificate, for
/// example.
struct SinkCheck {
  /// Where programs are looked for outside of a unit, which has a path of its own.
  private static let standardFolders = [
    "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
  ]

  private let check: ConfigurationCheck
  private let sink: SinkSettings
  private let place: String

  init(_ check: ConfigurationCheck, _ watch: WatchSettings, _ sink: SinkSettings) {
    self.check = check
    self.sink = sink
    place = "\(watch.name)/\(sink.name)"
  }

  func findings() -> [Finding] {
    let letters = sink.deadLetters.flatMap { letters in
      fault(ofOutput: letters.path).map {
        Finding.problem(place, "dead-letters: \(letters.path): \($0)")
      }
    }
    return ofKind() + (letters.map { [$0] } ?? [])
  }

  private func ofKind() -> [Finding] {
    switch sink.kind {
    case .exec(let exec):
      return exec.command.first.flatMap { fault(ofProgram: $0, exec.user) }
        .map { [.problem(place, $0)] } ?? []
    case .file(let file):
      return fault(ofOutput: file.path).map { [.problem(place, "\(file.path): \($0)")] } ?? []
    case .webhook(let webhook): return findings(webhook)
    case .socket(let socket): return check.socket(socket.path, place)
    case .events: return []
    }
  }

  // MARK: - Programs

  /// - Parameter user: who runs it; nil for the daemon's user.
  private func fault(ofProgram name: String, _ user: String?) -> String? {
    func may(_ path: String) -> Bool {
      user.map { tarn_may_as($0, path, X_OK) == 0 } ?? PathRights.may(path, X_OK)
    }
    if name.firstASCII("/") != nil {
      guard let kind = PathRights.kind(of: name) else { return "there is no program \(name)" }
      guard kind == S_IFREG else { return "\(name) is not a program" }
      guard may(name) else {
        return "\(user.map { "the user \($0)" } ?? PathRights.who) cannot run \(name)"
      }
      guard let interpreter = Self.interpreter(of: name) else { return nil }
      return may(interpreter)
        ? nil : "\(name) begins with '#!\(interpreter)', and there is no such program"
    }
    let given = ProcessInfo.processInfo.environment["PATH"]?.splitASCII(":").map(String.init) ?? []
    let folders = given + (isOutside ? Self.standardFolders : [])
    let isFound = folders.contains { folder in
      let path = "\(folder)/\(name)"
      return PathRights.kind(of: path) == S_IFREG && may(path)
    }
    return isFound ? nil : "there is no program \(name) in the folders of PATH"
  }

  /// The program that the first line of a script names.
  private static func interpreter(of path: String) -> String? {
    let descriptor = path.withPath { open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = max(0, read(descriptor, &bytes, bytes.count))
    guard count > 2, bytes.prefix(2).elementsEqual("#!".utf8) else { return nil }
    let line = bytes[..<count].dropFirst(2).prefix { $0 != 0x0a }
    let words = line.split { $0 == 0x20 || $0 == 0x09 }
    return words.first.map { String(decoding: $0, as: UTF8.self) }
  }

  private var isOutside: Bool {
    if case .outside = check.side { true } else { false }
  }

  // MARK: - Files

  private func fault(ofOutput path: String) -> String? {
    if path == "/dev/stdout" || path == "/dev/stderr" { return nil }
    switch PathRights.kind(of: path) {
    case nil: return PathRights.faultOfMaking(path)
    case S_IFDIR?: return "it is a folder"
    case S_IFBLK?: return "it is a disk"
    case S_IFREG?: break
    default: return PathRights.may(path, W_OK) ? nil : "\(PathRights.who) may not write it"
    }
    guard PathRights.may(path, R_OK | W_OK) else {
      return "\(PathRights.who) may not read and write it"
    }
    let descriptor = path.withPath { open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { return String(cString: strerror(errno)) }
    defer { close(descriptor) }
    return OutputTail(of: descriptor).kind == .data
      ? "it is not a file of lines, but one such as a store; give the sink another path" : nil
  }

  // MARK: - Webhooks

  private func findings(_ webhook: WebhookSettings) -> [Finding] {
    var found: [Finding] = []
    if let fault = check.fault(of: webhook.secret) {
      found.append(Finding(kind: fault.kind, place: place, message: "secret: \(fault.message)"))
    }
    for header in webhook.secretHeaders {
      if let fault = check.fault(of: header.source) {
        found.append(Finding(kind: fault.kind, place: place, message: "headers: \(fault.message)"))
        continue
      }
      do throws(ToolError) {
        _ = try header.line()
      } catch {
        found.append(.problem(place, "headers: \(error)"))
      }
    }
    if let fault = check.fault(of: webhook.urlSource) {
      found.append(Finding(kind: fault.kind, place: place, message: "webhook: \(fault.message)"))
    } else if webhook.urlSource != nil {
      do throws(ToolError) {
        _ = try webhook.readURL()
      } catch {
        found.append(.problem(place, "webhook: \(error)"))
      }
    } else if let fault = tarn_url_fault(webhook.url) {
      found.append(.problem(place, "'\(webhook.url)' is not a URL: \(String(cString: fault))"))
    }
    if let path = webhook.certificates {
      if let fault = PathRights.faultOfReading(path) {
        found.append(.problem(place, "certificates: \(fault)"))
      } else if tarn_count_certificates(path) == 0 {
        found.append(.problem(place, "certificates: \(path) has no certificate in PEM form"))
      }
    }
    return found
  }
}
