import TarnStore

/// Which objects a cursor reports, and which of their changes: some classes, each with a condition
/// and key paths if wanted, or the whole Realm.
///
/// ```swift
/// let both = CursorSelection.objects(of: Dog.self) { $0.age > 3 }
///   .adding(.objects(of: Person.self, keyPaths: ["name"]))
/// ```
///
/// The selection belongs to the cursor: it is kept in the file, and a cursor that is opened with
/// another one starts over; see ``StartAnewReason/selection``. Objects embedded in an object are
/// part of it and have no entry of their own.
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

  /// All objects of all classes: also of those that are added to the file later.
  public static let wholeRealm = CursorSelection(parts: nil)

  private init(parts: [Part]?) { self.parts = parts }

  /// The objects of a class.
  ///
  /// - Parameters:
  ///   - type: the class.
  ///   - keyPaths: the reported changes of objects that exist, like those of `observe`: the
  ///     properties at the end of these paths, and the links on the way. A property that holds
  ///     embedded objects is selected with all that is in them. Nil for all properties of the
  ///     objects and of the objects embedded in them; links are not followed then.
  public static func objects<Element: Object>(
    of type: Element.Type, keyPaths: [String]? = nil
  ) -> CursorSelection {
    part(type, keyPaths) { _ throws(Realm.Error) in .constant(true) }
  }

  /// The objects of a class that meet a condition, which may lead over links and collections.
  ///
  /// - Parameters:
  ///   - type: the class.
  ///   - keyPaths: the changes that are reported.
  ///   - condition: the same as for `where` on results. Values in it are captured at this call.
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
  ///   - filter: a filter string without placeholders; nil for all objects. One that does not fit
  ///     the class is an error where the cursor is opened.
  ///   - keyPaths: the changes that are reported.
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

/// A selection at one schema.
struct BoundSelection: Sendable {
  let parts: [FeedPart]
  /// What is kept in the file of it; nil for the whole Realm.
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
      var paths: [ScopePath]?
      if case .paths(let found) = KeyPathResolver.reach(part.keyPaths, from: [binding], core) {
        paths = found.map { $0.withEmbedded(schema) }
      }
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

  /// The names of the classes that conditions and key paths lead to and that are not selected.
  func related(in schema: SchemaView) -> [String] {
    guard names != nil else { return [] }
    var ids: Set<ClassID> = []
    for part in parts { ids.formUnion(part.concerningClasses) }
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
