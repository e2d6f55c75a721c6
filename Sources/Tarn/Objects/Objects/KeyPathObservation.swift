import TarnStore

/// An observation of a property of an object, of a property reached through its links, or of the
/// object's existence.
final class KeyPathObservation<Root: ObjectBase, Value>: PropertyObservation {
  typealias Change = PropertyObservedChange<Value>

  private let keyPath: KeyPath<Root, Value>
  private let path: PropertyChain
  private let options: PropertyObservingOptions
  private let block: (Root, Change) -> Void
  /// The token retains it. An object that retains its observers must not be retained by them.
  private weak var object: Root?
  private let row: Row?

  /// The row of a managed object.
  private struct Row {
    unowned let core: RealmCore
    let target: ObjectRef
    /// The columns of the path, class by class.
    let columns: [ColumnID]
  }

  init(
    _ object: Root, _ keyPath: KeyPath<Root, Value>, _ options: PropertyObservingOptions,
    _ block: @escaping (Root, Change) -> Void
  ) {
    self.keyPath = keyPath
    self.options = options
    self.block = block
    self.object = object
    let path = PropertyChain(keyPath)
    self.path = path
    row = object._core.map { core in
      Row(
        core: core,
        target: ObjectRef(classID: object._binding!.classID, key: ObjectKey(object._key)),
        columns: core.columns(of: path.steps, from: object))
    }
    super.init()
  }

  // MARK: - Reporting

  func tellInitially(_ object: Root) {
    let new = options.contains(.new) ? value(of: object) : nil
    block(
      object, Change(kind: .setting, indexes: nil, oldValue: nil, newValue: new, isPrior: false))
  }

  override func begin(_ kind: PropertyEffect.Kind) -> (() -> Void)? {
    guard kind.isOfObject == path.isOfObject, let object = current() else { return nil }
    if path.isOfObject { return beginEnd(object, isBack: kind == .returning) }
    let (kind, indexes) = (path.isList ? kind : .setting).described(Value.self)
    let old = options.contains(.old) ? value(of: object) : nil
    if options.contains(.prior) {
      block(
        object, Change(kind: kind, indexes: indexes, oldValue: old, newValue: nil, isPrior: true))
    }
    return { [self] in
      let new = options.contains(.new) ? value(of: object) : nil
      block(
        object,
        Change(
          kind: kind, indexes: indexes, oldValue: path.isCollection ? nil : old, newValue: new,
          isPrior: false))
    }
  }

  /// The object is about to be deleted, or to be restored. Its values are not read from it: another
  /// one may get its key.
  private func beginEnd(_ object: Root, isBack: Bool) -> (() -> Void)? {
    let old = options.contains(.old) ? isBack as? Value : nil
    let new = options.contains(.new) ? !isBack as? Value : nil
    func change(isPrior: Bool) -> Change {
      Change(
        kind: .setting, indexes: nil, oldValue: old, newValue: isPrior ? nil : new,
        isPrior: isPrior)
    }
    if options.contains(.prior) { block(object, change(isPrior: true)) }
    return { [self] in
      // A cancelled write may have returned it as an unmanaged object.
      guard let object = isBack ? current() : object, object._core != nil else { return }
      block(object, change(isPrior: false))
    }
  }

  /// The program's object; a new accessor if that one is invalid and the row is not.
  private func current() -> Root? {
    guard let object else { return nil }
    guard let row else { return object }
    // A cancelled write may have returned it as an unmanaged object.
    guard object._core != nil else { return nil }
    guard object.isInvalidated else { return object }
    guard row.core.has(row.target) else { return object }
    return row.core.object(row.target.key, row.core.binding(for: object)) as? Root
  }

  private func value(of object: Root) -> Value? {
    if !path.isOfObject, object.isInvalidated || !path.leadsOn(from: object) { return nil }
    return object[keyPath: keyPath]
  }

  // MARK: - The chain

  override func hook() {
    guard let row else {
      if let object { hook(toUnmanaged: object, 0) }
      return
    }
    guard !path.isOfObject else {
      let hook = PropertyRegistration(observation: self, column: nil, isRoot: true, isLast: true)
      row.core.properties?.hook(hook, to: row.target)
      return
    }
    hook(row.core, row.target, row.columns, 0)
  }

  private func hook(
    _ core: RealmCore, _ first: ObjectRef, _ columns: [ColumnID], _ firstStep: Int
  ) {
    var target = first
    for (column, step) in zip(columns, firstStep...) {
      let isLast = step == path.steps.count - 1
      core.properties?.hook(
        PropertyRegistration(observation: self, column: column, isRoot: step == 0, isLast: isLast),
        to: target)
      guard !isLast, let next = core.linkTarget(of: column, of: target) else { return }
      target = next
    }
  }

  private func hook(toUnmanaged first: ObjectBase, _ firstStep: Int) {
    var object = first
    for (step, property) in path.steps.enumerated().dropFirst(firstStep) {
      let isLast = step == path.steps.count - 1
      object.hook(self, to: property, isRoot: step == 0, isLast: isLast)
      guard !isLast, let next = property.readFlat(object) as? ObjectBase else { return }
      // An unmanaged object does not observe changes of a managed one.
      guard next._core == nil else { return }
      object = next
    }
  }
}

extension RealmCore {
  /// The columns of properties along a path.
  fileprivate func columns(of steps: [PropertyReflection], from object: ObjectBase) -> [ColumnID] {
    var binding = binding(for: object)
    return steps.map { step in
      let column = column(of: step, in: binding)
      if let target = step.target, step.isPlainLink { binding = self.binding(of: target) }
      return column
    }
  }

  /// The current target of a link.
  fileprivate func linkTarget(of column: ColumnID, of row: ObjectRef) -> ObjectRef? {
    value(of: column, of: row).flatMap(schemaToBind()[row.classID][column].linkTarget)
  }
}
