import TarnStore

extension LiveSource<ResultModel> {
  /// The current rows, including an open write's changes.
  ///
  /// - Parameter createdInWrite: the write that created the object that has the collection, while
  ///   it was open. If it is cancelled, the result is empty.
  func current(createdInWrite: WriteMark?) -> ResultRows {
    if createdInWrite?.wasCancelled == true { return model.nothing }
    return trapping { () throws(StorageError) in try current() }
  }
}

extension RealmCore {
  /// The shared rows of a query.
  ///
  /// - Parameter make: called if no rows are shared yet.
  func sharedResult(
    _ name: WeakTable<QuerySpec>.Name, _ make: () -> LiveResult
  ) -> LiveResult {
    knownResult(name) ?? shared.results.share(make(), as: name)
  }

  /// The shared rows of a query; nil without any.
  func knownResult(_ name: WeakTable<QuerySpec>.Name) -> LiveResult? {
    guard let known = shared.results.known(name) as? LiveResult, !known.isOwnerGone else {
      return nil
    }
    return known
  }

  func liveModel(of spec: QuerySpec) -> ResultModel {
    ResultModel(source(of: spec), window: spec.window)
  }

  private func source(of spec: QuerySpec) -> ResultModel.Source {
    if let values = spec.values, case .sequence(let place)? = spec.origin {
      return .values(
        ValuesModel(
          place, ascending: values.ascending, isDistinct: values.isDistinct, shown().schema))
    }
    if spec.origin == nil, spec.stages.isEmpty { return .query(compiled(spec)) }
    return .elements(ElementsModel(compiled(spec), spec.origin ?? .objects))
  }

  private func compiled(_ spec: QuerySpec) -> CompiledQuery {
    let binding = binding(of: spec)
    do {
      return try CompiledQuery(
        spec.predicate, spec.firstOrderTerms, spec.distinctTerms, on: binding.classID,
        shown().schema, ofElements: spec.origin != nil || !spec.stages.isEmpty)
    } catch {
      trap("Invalid query on '\(binding.schema.name)': \(error)")
    }
  }
}

extension RealmCore {
  /// Removes the objects of results of this instance.
  func delete<Element: ObjectBase>(_ results: Results<Element>) {
    let session = writing("delete objects")
    results.check()
    let id = results.model.query.classID
    if results.model.isOfWholeClass, results.model.window == nil {
      return clearing([id]) { trapping { () throws(StorageError) in try session.clear(id) } }
    }
    let keys = results.rows().objects
    deleting(keys.map { ObjectRef(classID: id, key: $0) }) {
      trapping { () throws(StorageError) in try session.delete(keys, in: id) }
    }
  }
}
