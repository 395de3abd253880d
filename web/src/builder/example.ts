/** example is the lesson that the builder starts with. A test solves it. */
export const example = `id: mine
title: My first lesson
about: One sentence for the list of lessons.
setup:
- create configmap lamp --from-literal color=red --as alice
steps:
- say: paint
  text: |
    Alice's lamp is red, at revision {{cm/lamp.rv}}. Paint it blue:

    \`patch configmap lamp -p '{"data":{"color":"blue"}}'\`
  needs:
  - configmaps/lamp exists
  predict:
    ask: What does the server answer?
    options:
    - say: "200, and the whole object"
      if: status 200
    - say: "204, and nothing"
      if: status 204
      why: The answer to a patch is the changed object.
  check:
  - configmaps/lamp .data.color == blue
  hint:
  - patch changes a part of an object; -p is the change.
  - patch configmap lamp -p '{"data":{"color":"blue"}}'
  solution:
  - patch configmap lamp -p '{"data":{"color":"blue"}}'
- say: end
  text: |
    The lamp is at revision {{cm/lamp.rv}} now. That was it.
`
