import TarnStore

/// The objects that a cursor reports, and the changes of them: some classes, optionally with a
/// filter and key paths for each, or the whole Realm.
///
/// ```swift
/// let both = CursorSelection.objects(of: Dog.self) { $0.age > 3 }
///   .adding(.objects(of: Person.self, keyPaths: ["name"]))
/// ```
///
/// The selection belongs to the cursor and is stored in the file. A cursor that is opened with
/// another selection needs a full resync; see ``FullResyncReason/selection``. Embedded objects
/// belong to the object that contains them and have no separate entry.
public struct CursorSelection: Sendable {
  /// One class of a selection.
  struct Part: Sendable {
    /// Nil for a class as the file describes it.
    let type: ObjectBase.Type?
    let className: String
    let condition: @Sendable (RealmCore) throws(Realm.Error) -> Predicate
    let keyPaths: [String]?
  }

  /// Nil for the whole Realm.
  let parts: [Part]?

  /// All objects of all classes, including classes that are added to the file later.
  public static let wholeRealm = CursorSelection(parts: nil)

  /// No class.
  package static let nothing = CursorSelection(parts: [])

  private init(parts: [Part]?) { self.parts = parts }

  /// The objects of a class.
  ///
  /// - Parameters:
  ///   - type: the class.
  ///   - keyPaths: the changes of existing objects to report, as for `observe`: the properties at
  ///     the end of these paths, and the links on the way. A property that holds embedded objects
  ///     includes all properties of these. Nil for all properties of the objects and of objects
  ///     embedded in them; links are then not followed.
  public static func objects<Element: Object>(
    of type: Element.Type, keyPaths: [String]? = nil
  ) -> CursorSelection {
    part(type, keyPaths) { _ throws(Realm.Error) in .constant(true) }
  }

  /// The objects of a class that match a condition, which may follow links and collections.
  ///
  /// - Parameters:
  ///   - type: the class.
  ///   - keyPaths: the changes to report.
  ///   - condition: a condition as for `where` on results. Its values are captured at this call.
  public static func objects<Element: Object>(
    of type: Element.Type, keyPaths: [String]? = nil,
    where condition: (Query<Element>) -> Query<Bool>
  ) -> CursorSelection {
    let predicate = condition(Query<Element>.root).predicate
    return part(type, keyPaths) { _ throws(Realm.Error) in predicate }
  }

  /// The objects of a class as the file describes it, for tools.
  ///
  /// - Parameters:
  ///   - className: its name in the file.
  ///   - filter: a filter string without placeholders; nil for all objects. Opening a cursor with a
  ///     filter that does not fit the class throws.
  ///   - keyPaths: the changes to report.
  public static func objects(
    ofClass className: String, filter: String? = nil, keyPaths: [String]? = nil
  ) -> CursorSelection {
    let part = Part(
      type: nil, className: className,
      condition: { core throws(Realm.Error) in
        guard let filter else { return .constant(true) }
        return try FilterText(filter, []).predicate(on: QuerySpec(dynamicClass: className), core)
      }, keyPaths: keyPaths)
    return CursorSelection(parts: [part])
  }

  /// Checks a filter string as far as that is possible without a file.
  ///
  /// - Throws: `Realm.Error` with the problem and the character where it is.
  package static func checkSyntax(ofFilter filter: String, onClass className: String) throws {
    _ = try FilterText(filter, []).predicate(on: "'\(className)'", nil) {
      (_) throws(PredicateSyntaxError) in
    }
  }

  private static func part(
    _ type: ObjectBase.Type, _ keyPaths: [String]?,
    _ condition: @escaping @Sendable (RealmCore) throws(Realm.Error) -> Predicate
  ) -> CursorSelection {
    let part = Part(
      type: type, className: ClassReflection.name(of: type), condition: condition,
      keyPaths: keyPaths)
    return CursorSelection(parts: [part])
  }

  /// Both selections. Traps if both have the same class.
  public func adding(_ other: CursorSelection) -> CursorSelection {
    guard let mine = parts, let theirs = other.parts else { return .wholeRealm }
    for part in theirs {
      require(
        !mine.contains { $0.className == part.className },
        "A selection has the class '\(part.className)' twice. Join the conditions with ||.")
    }
    return CursorSelection(parts: mine + theirs)
  }
}

/// A selection resolved at one schema.
struct BoundSelection: Sendable {
  let parts: [FeedPart]
  /// The selection as stored in the file; nil for the whole Realm.
  let names: [FeedSelectionName]?

  /// - Parameter core: a frozen instance at the schema.
  init(_ selection: CursorSelection, _ core: RealmCore) throws(Realm.Error) {
    let schema = core.schemaToBind()
    guard let wanted = selection.parts else {
      parts = schema.schema.classes.filter { !$0.isVacant && !$0.isEmbedded }.map {
        FeedPart(all: $0.id, schema)
      }
      names = nil
      return
    }
    var parts: [FeedPart] = []
    var names: [FeedSelectionName] = []
    for part in wanted.sorted(by: { $0.className < $1.className }) {
      guard let described = schema.schema.named(part.className), !described.isVacant else {
        throw core.error("The file has no class '\(part.className)' to select objects of.")
      }
      guard !described.isEmbedded else {
        throw core.error(
          "Objects of the embedded class '\(part.className)' are told as part of those that they "
            + "belong to. Select that class.")
      }
      let binding = part.type.map { core.binding(of: $0) } ?? core.dynamicBinding(part.className)
      let condition = try part.condition(core)
      let paths = try Self.paths(of: part, binding, core)?.map { $0.withEmbedded(schema) }
      do throws(PredicateError) {
        parts.append(try FeedPart(described.id, where: condition, paths: paths, schema))
      } catch {
        throw core.error("The condition does not fit class '\(part.className)': \(error.message)")
      }
      names.append(
        FeedSelectionName(
          className: part.className,
          condition: condition == .constant(true) ? nil : condition.description,
          keyPaths: part.keyPaths?.isEmpty == false ? part.keyPaths?.sorted() : nil))
    }
    self.parts = parts.sorted { $0.classID < $1.classID }
    self.names = names
  }

  private static func paths(
    of part: CursorSelection.Part, _ binding: ClassBinding, _ core: RealmCore
  ) throws(Realm.Error) -> [ScopePath]? {
    do throws(KeyPathMistake) {
      let scope = try KeyPathResolver.scope(part.keyPaths, from: [binding], core)
      if case .paths(let found)? = scope { return found } else { return nil }
    } catch {
      throw core.error(error.message)
    }
  }

  /// The values that a cursor keeps by default: old values show whether objects matched a condition
  /// before.
  var keptValues: KeptValues {
    names?.contains { $0.condition != nil } == true ? .oldValues : .keys
  }

  /// The names of classes that filters and key paths reach but that are not selected.
  func related(in schema: SchemaView) -> [String] {
    guard names != nil else { return [] }
    var ids: Set<ClassID> = []
    for part in parts { ids.formUnion(part.shownClasses) }
    for part in parts { ids.subtract(part.ownClasses) }
    return ids.map { schema[$0].name }
  }
}

extension RealmCore {
  func error(_ message: String) -> Realm.Error {
    Realm.Error(.invalidInput, message: message, fileURL: store.fileURL)
  }

  /// A frozen instance of a version, made without a live one. Any thread may use it.
  ///
  /// - Throws: `.schemaMismatch` if the program's classes do not fit the version's schema.
  static func frozen(
    at snapshot: Snapshot, of store: Store, _ configuration: Realm.Configuration,
    _ model: ModelSchema, home: Scheduler.Key
  ) throws(Realm.Error) -> RealmCore {
    let core = RealmCore(
      store: store, configuration: configuration, scheduler: .anywhere, model: model,
      frozen: FrozenState(snapshot, home: home))
    core.autorefresh = false
    core.classes.bind(to: snapshot.schema)
    let problems = core.classes.problems(at: snapshot.schema)
    guard problems.isEmpty else {
      throw Realm.Error(
        .schemaMismatch,
        message: "'\(store.path)' was migrated to schema version \(snapshot.head.schemaVersion), "
          + "which the classes of this program do not match:\n"
          + problems.map { "- " + $0 }.joined(separator: "\n"),
        fileURL: store.fileURL)
    }
    return core
  }
}
