@testable import Tarn

extension KnotObservers {
  /// What an observer of sections is held against.
  private struct Sections<Element: RealmCollectionValue> {
    let name: String
    let content: (Version) -> [KnotSection]
    /// The hub's property that they go over, if they do.
    var property: String?
    let look: KnotLook
    /// What an element is of, and back.
    let knot: (Element) -> Knot
    let element: (Knot) -> Element
  }

  func observe(_ source: KnotSections, _ look: KnotLook) {
    observe(
      Sections<Knot>(
        name: "\(source.name) \(look)", content: { $0.sections[source.name]! },
        property: source.property, look: look, knot: { $0 }, element: { $0 }),
      source.sections(realm)._changeOrigin.scoped(to: look.reach))
  }

  /// Projections, in the sections that their knots are in.
  func observeCardsInSections(_ look: KnotLook) {
    let cards = realm.objects(KnotCard.self).sectioned(by: \.size)
    observe(
      Sections<KnotCard>(
        name: "cards in sections \(look)", content: { $0.sections["sections"]! }, look: look,
        knot: \.rootObject, element: { KnotCard(projecting: $0) }),
      cards._changeOrigin.scoped(to: look.labelled))
  }

  private func observe<Element: RealmCollectionValue>(
    _ sections: Sections<Element>,
    _ changes: _ChangeOrigin<
      ObservedChange<SectionedResults<Int, Element>, SectionsDelta<Int, Element>>
    >
  ) {
    let (name, number, look) = (sections.name, tokens.count, sections.look)
    var copy: [SectionCopy<Int, Element>] = []
    let follower = KnotFollower(history, sections.content) { versions, old, new in
      old != new || !versions.modified(look).isDisjoint(with: old.flatMap(\.elements))
    }
    if let spot = sections.property.map({ Spot(id: 0, property: $0) }) {
      follower.mayBeTold = { $0.contains { $0.model.touched.contains(spot) } }
    }
    func id(_ element: Element) -> Int? { history.id(of: sections.knot(element)) }
    func report(
      _ change: ObservedChange<SectionedResults<Int, Element>, SectionsDelta<Int, Element>>,
      to expected: [KnotSection]
    ) {
      change.apply(to: &copy)
      let held = copy.map { KnotSection(key: $0.key, elements: $0.elements.map { id($0) ?? -1 }) }
      for knot in copy.flatMap(\.elements).map(sections.knot) {
        history.id(of: knot).map { knots[$0] = knot }
      }
      if held != expected { problems.append("\(name): a copy holds \(held), not \(expected)") }
    }
    add(
      name, follower,
      changes.observe { [unowned self] change in
        told(number) { shown, target in
          switch change {
          case .initial: report(change, to: follower.begin(at: shown))
          case .update(_, let delta):
            let step = follower.follow(upTo: target) {
              KnotProblem.of(delta, id, $0.modified(look), $1, $2)
            }
            switch step {
            case .wrong(let problem): problems.append("\(name): \(problem)")
            case .right(let old, let new):
              if let old {
                copy = old.map {
                  SectionCopy(
                    key: $0.key, elements: $0.elements.map { sections.element(knots[$0]!) })
                }
              }
              report(change, to: new)
            }
          case .error(let error): problems.append("\(name): \(error)")
          }
        }
      })
  }
}
