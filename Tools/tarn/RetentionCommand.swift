import TarnStore
import ToolSupport

/// `tarn retention`: shows or sets how long a file keeps change records without a cursor.
struct RetentionCommand {
  private enum Action: String { case show, set }

  private let action: Action
  private let path: String
  private let policy: RetentionPolicy
  private let patience: WriterPatience

  init(_ arguments: ParsedArguments) throws {
    let word = arguments.required("ACTION")
    guard let action = Action(rawValue: word) else {
      throw UsageError("'\(word)' is not an action: give show or set")
    }
    self.action = action
    path = arguments.required("FILE")
    patience = try WriterPatience(arguments)
    let options = ["age", "versions", "bytes", "old-values", "none"]
    if action == .show, let option = options.first(where: arguments.has) {
      throw UsageError("'retention show' takes no --\(option)")
    }
    policy = try Self.policy(arguments)
    if action == .set, policy.isEmpty, !arguments.has("none") {
      throw UsageError("'retention set' needs --age, --versions or --bytes, or --none")
    }
  }

  private static func policy(_ arguments: ParsedArguments) throws -> RetentionPolicy {
    var limits = RetentionLimits()
    if let text = arguments.value("age") {
      guard let age = KeepText.duration(text) else {
        throw UsageError("--age: '\(text)' is not a duration such as 90s, 5m, 2h or 7d")
      }
      limits.age = age
    }
    if let text = arguments.value("bytes") {
      guard let size = KeepText.size(text) else {
        throw UsageError("--bytes: '\(text)' is not a size such as 500MB or 1GB")
      }
      limits.bytes = size
    }
    if arguments.has("versions") {
      limits.versions = UInt64(try arguments.integer("versions", default: 0, in: 0...(.max)))
    }
    if arguments.has("none"), !limits.isEmpty || arguments.has("old-values") {
      throw UsageError("--none cannot be combined with other options")
    }
    return RetentionPolicy(limits, keepsOldValues: arguments.has("old-values"))
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    switch action {
    case .show:
      try output.write(Self.text(try StoreAccess.openExisting(path).retention()) + "\n")
    case .set:
      let store = try StoreAccess.openExisting(path, writing: patience)
      try Interruption.beginCommit()
      try store.setRetention(policy)
    }
    return .success
  }

  /// `7d, with old values`; alternatives are joined by "or".
  static func text(_ policy: RetentionPolicy) -> String {
    if policy.isEmpty { return "none" }
    let limits = policy.limits.map { limits in
      [
        limits.age.map { KeepText.text(microseconds: $0) },
        limits.versions.map { "\($0) versions" },
        limits.bytes.map { sizeText(Int(clamping: $0)) },
      ].compactMap { $0 }.joined(separator: " and ")
    }
    return limits.joined(separator: " or ") + (policy.keepsOldValues ? ", with old values" : "")
  }
}
