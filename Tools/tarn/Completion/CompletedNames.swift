import TarnStore
import TarnText
import ToolSupport

/// The names in a file, for completion: none if the file cannot be read.
struct CompletedNames {
  private static let versionsMax = 50

  private let store: Store?
  private let schema: StoreSchema

  init(path: String?) {
    // Not all pages are verified, which would take too long for a key.
    store = path.flatMap { try? StoreAccess.openExisting($0, verifying: false) }
    schema = (try? store?.newestSnapshot().schema.schema) ?? StoreSchema()
  }

  var classes: [String] { schema.classes.filter { !$0.isVacant }.map(\.name) }

  func columns(of name: String?) -> [String] {
    (name.flatMap { schema.named($0) }?.shownColumns ?? []).map(\.name)
  }

  /// The columns as filters and options have them: in back quotes where it is necessary.
  func written(of name: String?) -> [String] { columns(of: name).map(Self.written) }

  private static func written(_ name: String) -> String {
    let isPlain = name.unicodeScalars.allSatisfy {
      $0.properties.isAlphabetic || $0 == "_" || $0.isDigit
    }
    return isPlain ? name : "`" + name.replacingASCII("`", with: "``") + "`"
  }

  /// The columns that can be set, with those of embedded objects.
  func paths(of name: String?) -> [String] {
    guard let described = name.flatMap({ schema.named($0) }) else { return [] }
    return paths(described, depth: 0)
  }

  private func paths(_ described: ClassSchema, depth: Int) -> [String] {
    described.shownColumns.filter { $0.id != described.primaryKey }.flatMap { column in
      let name = Self.written(column.name)
      guard depth < 3, column.collection == .none,
        let target = column.target.flatMap({ schema[$0] }),
        target.isEmbedded
      else { return [name] }
      return [name] + paths(target, depth: depth + 1).map { "\(name).\($0)" }
    }
  }

  var cursors: [String] { (try? store?.cursors().map(\.record.name)) ?? [] }

  /// The last versions of which the file has the records.
  var versions: [String] {
    ((try? store?.retainedVersions()) ?? []).suffix(Self.versionsMax).map {
      "\($0.version.rawValue)"
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
}
